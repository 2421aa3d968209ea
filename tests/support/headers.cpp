// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//
// Does nothing: building this target makes the precompiled headers of the tests. It is a program
// because precompiled headers only fit files with the same flags for position-independent code.
int main() {
  return 0;
}
