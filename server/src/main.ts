import { runCommandLine } from './commands/run-command-line.ts'

/** The server program, `shiplock-server <command>`. */
process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  say: (line) => process.stderr.write(`${line}\n`),
  write: (text) => process.stdout.write(text),
})
