import { spawnSync } from 'node:child_process'
import { withoutCredentials } from './ci-job.ts'

/** What the git repository of a directory tells. Null is unknown. */
export type GitFacts = { commit: string | null; branch: string | null; remote: string | null }

export function readGit(cwd: string): GitFacts {
  return {
    commit: git(cwd, ['rev-parse', '--verify', '--quiet', 'HEAD']),
    branch: git(cwd, ['symbolic-ref', '--quiet', '--short', 'HEAD']),
    remote: remoteOf(cwd),
  }
}

/** The address of `origin`, or else of the first remote. A path on this machine is no address. */
function remoteOf(cwd: string): string | null {
  const names = git(cwd, ['remote'])?.split('\n') ?? []
  const name = names.includes('origin') ? 'origin' : names[0]
  const address = name === undefined ? null : git(cwd, ['remote', 'get-url', name])
  return address !== null && ADDRESS.test(address) ? withoutCredentials(address) : null
}

const ADDRESS = /^(?:(?:https?|ssh|git):\/\/|[^/\\@]+@[^/\\:]+:)/i

function git(cwd: string, args: string[]): string | null {
  const { status, stdout } = spawnSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  return status === 0 ? stdout.trim() || null : null
}
