// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//
// Does nothing: the target of this file makes the precompiled headers of the tests, and it is a
// program because headers serve only files with the same flags for position-independent code.
int main() {
  return 0;
}
