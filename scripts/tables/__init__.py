# SPDX-License-Identifier: BSD-3-Clause
"""The event tables: their grammar (grammar.py), its reader, and the compiler. python3 scripts/tables --help"""
