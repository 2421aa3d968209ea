// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A client of a later version, which calls a function that this library does not have. The loader
// refuses it.
extern int tsr_of_a_later_version(void);

int main(void) {
  return tsr_of_a_later_version();
}
