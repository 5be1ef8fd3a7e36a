import type { AnyCommand } from '@shiplock/command-line/command'

/** The commands by name. A command is loaded when it is called, so that others do not cost its time. */
export const COMMANDS: Readonly<Record<string, () => Promise<AnyCommand>>> = {
  login: async () => (await import('./login.ts')).loginCommand,
  'run start': async () => (await import('./run-start.ts')).runStartCommand,
  'run finish': async () => (await import('./run-finish.ts')).runFinishCommand,
  'run exec': async () => (await import('./run-exec.ts')).runExecCommand,
  report: async () => (await import('./report.ts')).reportCommand,
  upload: async () => (await import('./upload.ts')).uploadCommand,
  confirm: async () => (await import('./upload.ts')).uploadConfirmCommand,
  'deploy exec': async () => (await import('./deploy-exec.ts')).deployExecCommand,
  'gate open': async () => (await import('./gate-open.ts')).gateOpenCommand,
  deployments: async () => (await import('../lists/pipeline-lists.ts')).deploymentsCommand,
  approve: async () => (await import('../lists/answers.ts')).approveCommand,
  reject: async () => (await import('../lists/answers.ts')).rejectCommand,
  runs: async () => (await import('../lists/pipeline-lists.ts')).runsCommand,
  findings: async () => (await import('../lists/security-lists.ts')).findingsCommand,
  issues: async () => (await import('../lists/security-lists.ts')).issuesCommand,
  components: async () => (await import('../lists/components.ts')).componentsCommand,
  'sbom export': async () => (await import('./sbom-export.ts')).sbomExportCommand,
  explain: async () => (await import('../lists/explain.ts')).explainCommand,
  exposure: async () => (await import('../lists/exposure.ts')).exposureCommand,
  'stream list': async () => (await import('../lists/streams.ts')).streamListCommand,
  'stream end': async () => (await import('../lists/streams.ts')).streamEndCommand,
  'stream take-over': async () => (await import('../lists/streams.ts')).streamTakeOverCommand,
  alerts: async () => (await import('../lists/security-lists.ts')).alertsCommand,
  changes: async () => (await import('../lists/pipeline-lists.ts')).changesCommand,
  verify: async () => (await import('./verify.ts')).verifyCommand,
  completion: async () => (await import('./completion.ts')).completionCommand,
}

/** Loads all commands, for their summaries and their shell completion. */
export function loadCommands(): Promise<AnyCommand[]> {
  return Promise.all(Object.values(COMMANDS).map((load) => load()))
}
