# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""A word-level language model: an LSTM trained by truncated backpropagation through time on a text of a small grammar.

Runs under PyTorch (`python lstm_lm.py`) and under tessera (`python -m tessera.torch lstm_lm.py`).
"""

import argparse
import math

import numpy as np
import torch
import torch.nn as nn

SUBJECTS = ["the_cat", "the_dog", "the_miller", "a_child", "the_river"]
VERBS = ["sees", "hears", "follows", "likes", "counts"]
OBJECTS = ["the_wheel", "the_moon", "a_bird", "the_grain", "nothing"]


class Corpus:
    """Sentences "subject verb object <eos>"; a subject prefers one verb, a verb one object."""

    def __init__(self, rng, sentences):
        self.words = SUBJECTS + VERBS + OBJECTS + ["<eos>"]
        ids = []
        for _ in range(sentences):
            s = int(rng.integers(5))
            v = s if rng.random() < 0.8 else int(rng.integers(5))
            o = (v + 1) % 5 if rng.random() < 0.8 else int(rng.integers(5))
            ids += [s, 5 + v, 10 + o, 15]
        self.train = torch.tensor(ids, dtype=torch.int64)


class RNNModel(nn.Module):
    """Container module with an encoder, a recurrent module, and a decoder."""

    def __init__(self, ntoken, ninp, nhid, nlayers, dropout=0.0):
        super().__init__()
        self.ntoken = ntoken
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = nn.LSTM(ninp, nhid, nlayers, dropout=dropout)
        self.decoder = nn.Linear(nhid, ntoken)
        self.nhid = nhid
        self.nlayers = nlayers

    def forward(self, input, hidden):
        emb = self.drop(self.encoder(input))
        output, hidden = self.rnn(emb, hidden)
        output = self.drop(output)
        decoded = self.decoder(output)
        decoded = decoded.view(-1, self.ntoken)
        return nn.functional.log_softmax(decoded, dim=1), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        return (weight.new_zeros(self.nlayers, bsz, self.nhid), weight.new_zeros(self.nlayers, bsz, self.nhid))


def batchify(data, bsz):
    nbatch = data.size(0) // bsz
    data = data.narrow(0, 0, nbatch * bsz)
    return data.view(bsz, -1).t().contiguous()


def repackage_hidden(h):
    """Wraps hidden states in new tensors, to detach them from their history."""
    if isinstance(h, torch.Tensor):
        return h.detach()
    return tuple(repackage_hidden(v) for v in h)


def get_batch(source, i, bptt):
    seq_len = min(bptt, len(source) - 1 - i)
    data = source[i : i + seq_len]
    target = source[i + 1 : i + 1 + seq_len].view(-1)
    return data, target


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    args = parser.parse_args()

    rng = np.random.default_rng(0)
    corpus = Corpus(rng, sentences=2000)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    batch_size, bptt, clip, lr = 16, 12, 0.5, 5.0
    train_data = batchify(corpus.train, batch_size).to(device)
    model = RNNModel(len(corpus.words), 32, 48, 2)
    for p in model.parameters():
        p.data.copy_(torch.from_numpy(rng.uniform(-0.15, 0.15, tuple(p.shape)).astype(np.float32)))
    model = model.to(device)
    criterion = nn.NLLLoss()

    model.train()
    hidden = model.init_hidden(batch_size)
    place = 0
    for step in range(args.steps):
        if place >= train_data.size(0) - 1:
            place = 0
        data, targets = get_batch(train_data, place, bptt)
        place += bptt
        model.zero_grad()
        hidden = repackage_hidden(hidden)
        output, hidden = model(data, hidden)
        loss = criterion(output, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        for p in model.parameters():
            p.data.add_(p.grad, alpha=-lr)
        print(f"step {step} loss {loss.item():.6f} ppl {math.exp(loss.item()):.2f}")

    model.eval()
    with torch.no_grad():
        hidden = model.init_hidden(1)
        word, said = torch.zeros(1, 1, dtype=torch.long, device=device), [corpus.words[0]]
        for _ in range(3):
            output, hidden = model(word, hidden)
            word.fill_(output.argmax(dim=1)[0])
            said.append(corpus.words[word.item()])
    print("sample:", " ".join(said))


if __name__ == "__main__":
    main()
