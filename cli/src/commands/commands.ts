import type { Command } from './command.ts'
import { verifyCommand } from './verify.ts'

export const COMMANDS: Command[] = [verifyCommand]

export function findCommand(name: string): Command | undefined {
  return COMMANDS.find((command) => command.name === name)
}
