import { writeBash } from '../completion/bash.ts'
import { writeFish } from '../completion/fish.ts'
import { writeZsh } from '../completion/zsh.ts'
import { type AnyCommand, defineCommand } from '../program/command.ts'
import { EXIT } from '../program/exit-codes.ts'

const WRITERS: Readonly<Record<string, (commands: AnyCommand[]) => string>> = {
  bash: writeBash,
  zsh: writeZsh,
  fish: writeFish,
}

export const completionCommand = defineCommand({
  name: 'completion',
  summary: 'Print a script for shell completion',
  details: ['Prints a script that completes commands, options and their values in your shell.'],
  positionals: { value: 'SHELL', count: 'one', choices: Object.keys(WRITERS) },
  options: {},
  examples: [
    'source <(shiplock completion bash)',
    'shiplock completion zsh > "$fpath[1]/_shiplock"',
    'shiplock completion fish > ~/.config/fish/completions/shiplock.fish',
  ],
  async run({ positionals: [shell = ''] }, { output, commands }) {
    output.write(WRITERS[shell]?.(await commands()) ?? '')
    return EXIT.ok
  },
})
