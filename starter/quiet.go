package main

import "log/slog"

// quietLogger drops what the SDK logs: verbs print their own answers.
func quietLogger() *slog.Logger { return slog.New(slog.DiscardHandler) }
