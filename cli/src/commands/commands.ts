import type { AnyCommand } from '../program/command.ts'

/** The commands by name. A command is loaded when it is called, so that others do not cost its time. */
export const COMMANDS: Readonly<Record<string, () => Promise<AnyCommand>>> = {
  verify: async () => (await import('./verify.ts')).verifyCommand,
}

/** Loads all commands, for their summaries and their shell completion. */
export function loadCommands(): Promise<AnyCommand[]> {
  return Promise.all(Object.values(COMMANDS).map((load) => load()))
}
