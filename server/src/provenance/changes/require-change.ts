import { findPullRequest } from '../../ci/changes/landed-change.store.ts'
import type { Provider } from '../../codehosts/catalogue.ts'
import { createNoStatementError } from '../../errors/provenance.ts'
import { repositoryAmbiguous } from '../../errors/security.ts'
import { createInvalidFieldError, createNotFoundError } from '../../platform/http/errors.ts'
import { findByName } from '../../repositories/repository.store.ts'
import type { RepositoryKey } from '../../repositories/repository-identity.ts'
import type { Services } from '../../services.ts'
import { findChange, findChangeOfPullRequest, type StoredChange } from './change.store.ts'
import type { ChangeSelection } from './change-list.store.ts'
import { findLanding } from './landing.store.ts'
import { computeDeadline } from './landing-schedule.ts'

const PULL_REQUEST_ID = /^pr_([a-z]+)_([0-9A-Za-z-]+)_([1-9]\d{0,8})$/

/**
 * The pull request that an id of the form `pr_<provider>_<repository id>_<number>` names, or null.
 */
export function parsePullRequestId(id: string): { provider: string; repository_id: string; number: number } | null {
  const [, provider, repository_id, number] = PULL_REQUEST_ID.exec(id) ?? []
  if (provider === undefined || repository_id === undefined) return null
  return { provider, repository_id, number: Number(number) }
}

/**
 * The change with this id, or of the pull request `pr_<provider>_<repository id>_<number>`. Throws
 * 404 and 409 `statement_unavailable` with a reason (provenance.md §4).
 */
export async function requireChange(services: Pick<Services, 'sql'>, orgId: string, id: string): Promise<StoredChange> {
  const pullRequest = parsePullRequestId(id)
  if (pullRequest !== null) {
    const { number, ...repository } = pullRequest
    return requireChangeOfPullRequest(services, { org_id: orgId, ...repository }, number)
  }
  const change = await findChange(services.sql, orgId, id)
  if (change === null) throw createNotFoundError('change')
  return change
}

async function requireChangeOfPullRequest(
  { sql }: Pick<Services, 'sql'>,
  repository: RepositoryKey,
  number: number,
): Promise<StoredChange> {
  const change = await findChangeOfPullRequest(sql, repository, number)
  if (change !== null) return change
  const pull = await findPullRequest(sql, repository, number)
  if (pull === null) throw createNotFoundError('change')
  if (pull.state !== 'merged') {
    const state = pull.state === 'open' ? 'is open' : 'was closed without being merged'
    throw createNoStatementError('NOT_LANDED', `Pull request ${number} ${state}.`)
  }
  if (pull.merge_commit_sha === null)
    throw createNoStatementError('NO_COMMIT', `The commit with which pull request ${number} landed is not known yet.`)
  const landing = await findLanding(sql, repository, number)
  const message =
    landing === null
      ? `Pull request ${number} was not merged into the tracked branch.`
      : `The record of pull request ${number} is not written yet. It is written when the checks of the commit have finished, or at ${computeDeadline(landing).toISOString()}.`
  throw createNoStatementError('NO_CHANGE', message)
}

type RepositoryQuery = { repository?: string | undefined; provider?: Provider | undefined }

/**
 * The repositories that have a name now, or null if none is named. Throws 400
 * `REPOSITORY_AMBIGUOUS` for a name that exists on several code hosts, and 400 `invalid_request`
 * for a provider without a name.
 */
export async function findChangedRepositories(
  { sql }: Pick<Services, 'sql'>,
  orgId: string,
  { repository: name, provider }: RepositoryQuery,
): Promise<ChangeSelection['repositories']> {
  if (name === undefined && provider !== undefined)
    throw createInvalidFieldError('/query/provider', 'requires repository')
  if (name === undefined) return null
  const found = await findByName(sql, orgId, name)
  const providers = new Set(found.map((repository) => repository.provider))
  if (provider === undefined && providers.size > 1) throw repositoryAmbiguous(name, [...providers])
  return found.filter((repository) => provider === undefined || repository.provider === provider)
}
