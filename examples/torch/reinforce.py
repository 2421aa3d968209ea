# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Policy gradients (REINFORCE): an agent learns to balance a pole on a cart that it simulates itself.

Runs under PyTorch (`python reinforce.py`) and under tessera (`python -m tessera.torch reinforce.py`).
"""

import argparse
import math
from itertools import count

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical


class CartPole:
    """A pole on a cart, by Euler steps of its equations of motion; an episode ends when it falls or after 60 steps."""

    def __init__(self, rng):
        self.rng = rng

    def reset(self):
        self.state = self.rng.uniform(-0.05, 0.05, 4)
        self.steps = 0
        return self.state

    def step(self, action):
        x, v, angle, spin = self.state
        force = 10.0 if action == 1 else -10.0
        sin, cos = math.sin(angle), math.cos(angle)
        push = (force + 0.05 * spin**2 * sin) / 1.1
        turn = (9.8 * sin - cos * push) / (0.5 * (4.0 / 3.0 - 0.1 * cos**2 / 1.1))
        speed = push - 0.05 * turn * cos / 1.1
        self.state = np.array([x + 0.02 * v, v + 0.02 * speed, angle + 0.02 * spin, spin + 0.02 * turn])
        self.steps += 1
        done = abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.21 or self.steps == 60
        return self.state, 1.0, done


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(4, 32)
        self.affine2 = nn.Linear(32, 2)
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        x = F.relu(self.affine1(x))
        action_scores = self.affine2(x)
        return F.softmax(action_scores, dim=1)


def select_action(policy, state, draw):
    state = torch.from_numpy(state).float().unsqueeze(0)
    probs = policy(state)
    m = Categorical(probs)
    action = m.sample() if draw is None else torch.tensor([int(draw > probs[0, 0].item())])
    policy.saved_log_probs.append(m.log_prob(action))
    return action.item()


def finish_episode(policy, optimizer, gamma=0.99):
    R = 0
    policy_loss = []
    returns = []
    for r in policy.rewards[::-1]:
        R = r + gamma * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + np.finfo(np.float32).eps.item())
    for log_prob, R in zip(policy.saved_log_probs, returns):
        policy_loss.append(-log_prob * R)
    optimizer.zero_grad()
    policy_loss = torch.cat(policy_loss).sum()
    policy_loss.backward()
    optimizer.step()
    del policy.rewards[:]
    del policy.saved_log_probs[:]
    return policy_loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100, help="episodes")
    parser.add_argument("--sample", action="store_true", help="draw actions with Categorical.sample()")
    args = parser.parse_args()

    rng = np.random.default_rng(0)
    torch.manual_seed(0)
    env = CartPole(rng)
    policy = Policy()
    for p in policy.parameters():
        bound = 1.0 / p.size(-1) ** 0.5
        p.data.copy_(torch.from_numpy(rng.uniform(-bound, bound, tuple(p.shape)).astype(np.float32)))
    optimizer = optim.Adam(policy.parameters(), lr=1e-2)

    running_reward = 10
    for i_episode in range(args.steps):
        state, ep_reward = env.reset(), 0
        for _ in count():
            action = select_action(policy, state, None if args.sample else rng.random())
            state, reward, done = env.step(action)
            policy.rewards.append(reward)
            ep_reward += reward
            if done:
                break
        running_reward = 0.05 * ep_reward + (1 - 0.05) * running_reward
        loss = finish_episode(policy, optimizer)
        print(f"step {i_episode} loss {loss:.6f} reward {ep_reward:.0f} running {running_reward:.2f}")


if __name__ == "__main__":
    main()
