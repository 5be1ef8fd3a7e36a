// Loaded before a program, with NODE_OPTIONS: at its end, prints the most memory that it has used.
process.on('exit', () => process.stderr.write(`peak memory: ${process.resourceUsage().maxRSS} KiB\n`))
