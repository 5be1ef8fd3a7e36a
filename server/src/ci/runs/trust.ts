import type { Credential } from '../../access/actor.ts'
import type { TokenJob } from '../../access/oidc-trusts/token-job.ts'
import { isRequestRef, isTracked, matchAnyRepository } from '../../repositories/repository-identity.ts'

/**
 * How far a statement about a run can be trusted, best first: the lanes of runs and reports (trust
 * §1). What API keys state is `self_reported`. Policies count `verified` statements.
 */
export const TRUST_CLASSES = ['verified', 'self_reported', 'untrusted'] as const
export type TrustClass = (typeof TRUST_CLASSES)[number]

/**
 * Who speaks (decisions §7). `untrusted` is weaker than `person` and `key`, and these are weaker
 * than `verified`. Neither of `person` and `key` is weaker than the other.
 */
export const LANES = ['verified', 'key', 'person', 'untrusted'] as const
export type Lane = (typeof LANES)[number]

/** The lane of what a credential has stated. People have no class of their own. */
export function getLane(trust: TrustClass): Lane {
  return trust === 'self_reported' ? 'key' : trust
}

/** What identifies a stored run. */
export type RunSource = {
  /** The code host that the run comes from, or `other`. */
  provider: string
  /** Null for a run of a code host. */
  ci_system: string | null
  /** The CI server or organization. Null if nobody has named it. */
  ci_instance: string | null
  external_run_id: string
  /** The repository as the code host or a token has named it. Null if only an API key has. */
  repository: { provider: string; id: string; host: string } | null
  /** Where the commits of a code host's run come from. Null for other runs. */
  head_repository_id: string | null
}

/**
 * The class of what a credential states about a run. A token is `verified` for its own run, or
 * `untrusted` if code of strangers may have run in its job. About other runs only those tokens may
 * speak of whose jobs ran no such code (`requireOwnRepository`). One of a central pipeline can be
 * `verified` where the run is, too.
 */
export function decideTrust(
  credential: Credential,
  run: RunSource & { address: string; trust: TrustClass },
): TrustClass {
  const job = credential.type === 'oidc_trust' ? credential.job : null
  if (job === null) return 'self_reported'
  if (isOwnRun(job, run)) return decideTrustOfJob(job, run.head_repository_id)
  return canSpeakFor(job, run.address) ? selectWeakest(getTrustOfOther(job), run.trust) : 'self_reported'
}

/** Whether a trust lets its jobs speak about a repository that is not their own (trust §3). */
export function canSpeakFor({ others }: TokenJob, address: string): boolean {
  return others !== undefined && matchAnyRepository(others.speaks_for, address)
}

/** The class of what a job may state about the other repositories that its trust names. */
export function getTrustOfOther({ others, foreign_code }: TokenJob): TrustClass {
  return others?.as === 'verified' && foreign_code === 'none' ? 'verified' : 'self_reported'
}

/**
 * The class of what a job states about its own run. `headRepositoryId` is what a connected code
 * host says about the head of a pull request; null if none does.
 */
export function decideTrustOfJob({ foreign_code, repository }: TokenJob, headRepositoryId: string | null): TrustClass {
  const isOwnCode = foreign_code === 'none' || (foreign_code === 'pull_request' && headRepositoryId === repository.id)
  return isOwnCode ? 'verified' : 'untrusted'
}

/** Whether code of strangers may have run in a run that is not of the tracked branch. */
export function isRunOfStrangers(run: { trust: string; ref: string | null } | null, trackedBranch: string | null) {
  return run?.trust === 'untrusted' && (isRequestRef(run.ref) || !isTracked(run.ref, trackedBranch))
}

/** Whether a run is the one that a token names. */
export function isOwnRun(job: TokenJob, run: RunSource): boolean {
  const { provider, run: own } = job
  const isOfRepository = run.repository !== null && isOwnRepository(job, run.repository)
  const isReported = run.provider === 'other'
  const isOfSystem = isReported ? run.ci_system === own.ci_system : run.provider === provider
  if (!canBeSameInstance(own.ci_instance, run.ci_instance)) return false
  return isOfRepository && isOfSystem && run.external_run_id === (isReported ? own.external_run_id : own.host_run_id)
}

/** Whether two runs can be of one CI server, which not everybody names. */
export function canBeSameInstance(one: string | null, other: string | null): boolean {
  return one === null || other === null || one === other
}

/**
 * Whether a repository is the one that a token names. Two code hosts can have repositories with the
 * same id.
 */
export function isOwnRepository(
  { provider, repository: own }: TokenJob,
  named: NonNullable<RunSource['repository']>,
): boolean {
  return named.provider === provider && named.id === own.id && (own.host === null || named.host === own.host)
}

/** Whether a statement may not change what was stated before, because it can be trusted less. */
export function isWeaker(stated: TrustClass, stored: TrustClass): boolean {
  return getStrengthRank(stated) > getStrengthRank(stored)
}

/** The most trustworthy of the objects that have one identity; null for none. */
export function selectStrongest<Item extends { trust: TrustClass }>(items: readonly Item[]): Item | null {
  const [strongest = null] = items.toSorted((a, b) => getStrengthRank(a.trust) - getStrengthRank(b.trust))
  return strongest
}

function getStrengthRank(trust: TrustClass): number {
  return TRUST_CLASSES.indexOf(trust)
}

/** The class of what two credentials have stated together. */
export function selectWeakest(one: TrustClass, other: TrustClass): TrustClass {
  return isWeaker(one, other) ? one : other
}
