#!/usr/bin/env node
// Plain JavaScript, so that npm can link the command before the first build.
await import("../dist/cli/main.js");
