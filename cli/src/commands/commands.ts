import type { AnyCommand } from '../program/command.ts'

/** The commands by name. A command is loaded when it is called, so that others do not cost its time. */
export const COMMANDS: Readonly<Record<string, () => Promise<AnyCommand>>> = {
  login: async () => (await import('./login.ts')).loginCommand,
  'run start': async () => (await import('./run-start.ts')).runStartCommand,
  'run finish': async () => (await import('./run-finish.ts')).runFinishCommand,
  'run exec': async () => (await import('./run-exec.ts')).runExecCommand,
  report: async () => (await import('./report.ts')).reportCommand,
  upload: async () => (await import('./upload.ts')).uploadCommand,
  'gate open': async () => (await import('./gate-open.ts')).gateOpenCommand,
  verify: async () => (await import('./verify.ts')).verifyCommand,
  completion: async () => (await import('./completion.ts')).completionCommand,
}

/** Loads all commands, for their summaries and their shell completion. */
export function loadCommands(): Promise<AnyCommand[]> {
  return Promise.all(Object.values(COMMANDS).map((load) => load()))
}
