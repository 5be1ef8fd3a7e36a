import type { Context } from '@shiplock/command-line/command'
import type { Options } from '@shiplock/command-line/options'
import type { CiJob } from '../ci/ci-job.ts'
import { detectCi } from '../ci/detect-ci.ts'
import { type GitFacts, readGit } from '../ci/git.ts'

/** The options that name what was built or scanned. */
export const REVISION_OPTIONS = {
  repository: {
    type: 'text',
    value: 'R',
    about: 'the repository, as a URL or host/owner/name (by default from the CI or from git)',
  },
  commit: { type: 'text', value: 'SHA', about: 'the commit (by default from the CI or from git)' },
  ref: {
    type: 'text',
    value: 'REF',
    about: 'the branch, or a tag as refs/tags/NAME (by default from the CI or from git)',
  },
} as const satisfies Options

export type RevisionOptions = { [Name in keyof typeof REVISION_OPTIONS]: string | undefined }

/** What was built. Null is unknown. `ci` is the job in which the program runs. */
type Revision = {
  repository: string | null
  commit_sha: string | null
  ref: string | null
  ci: CiJob | null
}

/** What the options, the CI and git tell, in this order. Git is asked only for what is missing. */
export function findRevision(options: RevisionOptions, { env, cwd }: Pick<Context, 'env' | 'cwd'>): Revision {
  const ci = detectCi(env, cwd)
  let facts: GitFacts | null = null
  const git = () => {
    facts ??= readGit(cwd)
    return facts
  }
  return {
    repository: options.repository ?? ci?.repository ?? git().remote,
    commit_sha: options.commit ?? ci?.commit_sha ?? git().commit,
    ref: options.ref ?? ci?.ref ?? git().branch,
    ci,
  }
}

/**
 * The name that a code host has for a repository: `owner/name`. Takes a URL, an scp-style address,
 * `host/owner/name`, or the name itself.
 */
export function repositoryName(address: string): string {
  const path = pathOf(address.trim())
    .replace(/^\/+|(?<!\/)\/+$/g, '')
    .replace(/\.git$/i, '')
  // Azure DevOps has three forms of one address (ci-evidence §1). The server knows that with _git.
  if (/(?:ssh\.dev\.azure|vs-ssh\.visualstudio)\.com[:/]/i.test(address)) return path.replace(/^v3\//, '')
  const organization = /([a-z0-9-]{1,63})\.visualstudio\.com\//i.exec(address)?.[1]
  return organization === undefined ? path : `${organization}/${path.replace(/^DefaultCollection\//i, '')}`
}

function pathOf(address: string): string {
  if (address.includes('://')) return URL.canParse(address) ? decodeURIComponent(new URL(address).pathname) : address
  const scp = /^[^/@]+@[^/:]+:(.+)$/.exec(address)
  if (scp) return scp[1] ?? address
  const [first = '', ...rest] = address.split('/')
  return rest.length > 1 && /[.:]/.test(first) ? rest.join('/') : address
}
