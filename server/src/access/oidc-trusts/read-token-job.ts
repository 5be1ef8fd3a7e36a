import { readAzureJob } from './azure-job.ts'
import { readBitbucketJob } from './bitbucket-job.ts'
import type { Claims } from './claims.ts'
import { readGithubJob } from './github-job.ts'
import { readGitlabJob } from './gitlab-job.ts'
import type { SpeaksFor, TokenJob, TrustProvider, TrustTerms } from './token-job.ts'

const READERS: Record<TrustProvider, (claims: Claims, issuer: string, terms: TrustTerms) => TokenJob | null> = {
  github: readGithubJob,
  gitlab: readGitlabJob,
  bitbucket: readBitbucketJob,
  azure: readAzureJob,
}

/**
 * The job that the claims of a verified token describe. Null if the trust names no provider, or if
 * the claims have no id of a run and of its repository.
 */
export function readTokenJob(
  { provider, issuer, ...terms }: TrustTerms & Partial<SpeaksFor> & { provider: TrustProvider | null; issuer: string },
  claims: Claims,
): TokenJob | null {
  const { speaks_for = [], as = 'uploaded' } = terms
  const job = provider === null ? null : READERS[provider](claims, issuer, terms)
  return job === null || speaks_for.length === 0 ? job : { ...job, others: { speaks_for, as } }
}
