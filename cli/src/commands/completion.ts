import { writeBash } from '@shiplock/command-line/bash'
import { type AnyCommand, defineCommand } from '@shiplock/command-line/command'
import { writeFish } from '@shiplock/command-line/fish'
import { writeZsh } from '@shiplock/command-line/zsh'
import { EXIT } from '../program/exit-codes.ts'

const WRITERS: Readonly<Record<string, (program: string, commands: AnyCommand[]) => string>> = {
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
    output.write(WRITERS[shell]?.('shiplock', await commands()) ?? '')
    return EXIT.ok
  },
})
