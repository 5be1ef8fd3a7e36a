import { isDeepStrictEqual } from 'node:util'
import { DAY_MS } from '../platform/clock.ts'
import { matchGlob } from '../platform/glob.ts'
import { matchEnvironment, matchRepository, type NamedEnvironment } from '../repositories/repository-identity.ts'
import type { RequiredGate } from './deployment-state.ts'

/** What a configured gate covers, as globs; null matches everything. */
export type GatePatterns = { environment: string; repository: string | null; branch: string | null }

/**
 * The target that a run deploys to. `repository` is `host/owner/name`; `branch` is null if the
 * run's ref is not a branch.
 */
type GateTarget = NamedEnvironment & { branch: string | null }

/** True if the gate covers the target, that is, if all its patterns match. */
export function isTargetCovered(gate: GatePatterns, target: GateTarget): boolean {
  return (
    matchEnvironment([gate.environment], target) &&
    (gate.repository === null || matchRepository(gate.repository, target.repository)) &&
    (gate.branch === null || (target.branch !== null && matchGlob(gate.branch, target.branch)))
  )
}

/** A gate that a deployment requires, before it is approved. */
export type GateToRequire = Omit<RequiredGate, 'approved_at' | 'approved_by'>

type Settings = Omit<GateToRequire, 'asks_earlier' | 'replaced_at' | 'after_rejection'>

/** A version of a gate that a deployment is asked under. */
export type AskedVersion = Settings &
  GatePatterns & {
    /** When the version was changed or the gate deleted; null for the version of now. */
    replaced_at: Date | null
    /** When the version was stored. */
    made_at: Date
  }

/**
 * The gates that a deployment requires. Each is asked under all its versions that cover the target,
 * and the strictest of each setting counts (trust §5). The order is that of the versions.
 */
export function selectRequired(versions: readonly AskedVersion[], target: GateTarget, now: Date): GateToRequire[] {
  return [...Map.groupBy(versions, ({ id }) => id).values()].flatMap((all) => {
    const isExempt = hasLetOpenersIn(all, now)
    const asked = (isExempt ? all.filter(isCurrent) : all).filter((version) => isTargetCovered(version, target))
    return asked.length === 0 ? [] : [mergeVersions(asked, !isExempt)]
  })
}

/**
 * The same for a deployment that has waited without a gate. A gate of which a version of now is
 * `later` lets nobody approve who could not without it, or it would be a way around the second
 * person: people who did not open the deployment.
 */
export function selectLater(
  versions: readonly AskedVersion[],
  later: readonly AskedVersion[],
  target: GateTarget,
  now: Date,
): GateToRequire[] {
  const made = new Set(later.filter(isCurrent).map(({ id }) => id))
  const alone = { allow_api_keys: false, allow_run_creator: false, approve_by_policies: false, asks_earlier: true }
  return selectRequired(versions, target, now).map((gate) => (made.has(gate.id) ? { ...gate, ...alone } : gate))
}

/**
 * The same for a gate that a stored deployment already requires: as it was at the opening, and
 * stricter if it has become so: then it is open again, and the answers are counted again. It stays
 * required when it is deleted.
 */
export function mergeRequired(
  gate: RequiredGate,
  versions: readonly AskedVersion[],
  { target, now }: { target: GateTarget; now: Date },
): RequiredGate {
  const { after_rejection } = gate
  const isExempt = !after_rejection && hasLetOpenersIn([gate], now) && hasLetOpenersIn(versions, now)
  const covering = versions.filter((version) => isTargetCovered(version, target))
  const current = covering.filter(isCurrent)
  const stored = { ...gate, replaced_at: gate.replaced_at ?? getLatest(versions) }
  const asked =
    isExempt && current.length > 0
      ? current
      : [...current, stored, ...covering.filter((version) => !isCurrent(version))]
  const merged = { ...mergeVersions(asked, !isExempt), name: gate.name, after_rejection }
  const isStricter = !isDeepStrictEqual(selectStrictest([gate, merged]), selectStrictest([gate]))
  const { approved_at, approved_by } = gate
  return { ...merged, ...(isStricter ? { approved_at: null, approved_by: null } : { approved_at, approved_by }) }
}

/** Who rejected a deployment: a person or a key. */
export type Rejecter = 'person' | 'key'

/**
 * The gates of a deployment that is opened again after a rejection: policies alone do not approve
 * them, and keys do not if a person had rejected it.
 */
export function withAnswerRequired(gates: readonly GateToRequire[], rejecter: Rejecter): GateToRequire[] {
  return gates.map((gate) => {
    const allow_api_keys = gate.allow_api_keys && rejecter === 'key'
    return { ...gate, allow_api_keys, approve_by_policies: false, after_rejection: true }
  })
}

/**
 * True if the gate has let openers in since it was made, or for a day, and asked for one approval:
 * whoever loosens it could approve alone anyway, so that it is asked under its version of now.
 */
function hasLetOpenersIn(versions: readonly (Settings & Replaceable)[], now: Date): boolean {
  const dayAgo = now.getTime() - DAY_MS
  const recent = versions.filter(({ replaced_at }) => replaced_at === null || replaced_at.getTime() > dayAgo)
  return recent.length > 0 && recent.every((gate) => gate.allow_run_creator && gate.required_approvals <= 1)
}

type Replaceable = Pick<AskedVersion, 'replaced_at'>

function isCurrent({ replaced_at }: Replaceable): boolean {
  return replaced_at === null
}

function getLatest(versions: readonly Replaceable[]): Date | null {
  const times = versions.flatMap(({ replaced_at }) => (replaced_at === null ? [] : [replaced_at.getTime()]))
  return times.length === 0 ? null : new Date(Math.max(...times))
}

function mergeVersions(versions: readonly (Settings & Replaceable)[], asks_earlier: boolean): GateToRequire {
  const [first] = versions as [Settings & Replaceable]
  const merged = selectStrictest(versions)
  // The version of now decides alone where no earlier one is stricter.
  const isOfNow = isCurrent(first) && isDeepStrictEqual(merged, selectStrictest([first]))
  return { ...merged, after_rejection: false, asks_earlier, replaced_at: isOfNow ? null : getLatest(versions) }
}

/** The strictest of each setting. The first version names the gate. */
function selectStrictest(versions: readonly Settings[]): Settings {
  const [{ id, name }] = versions as [Settings]
  const approvals = versions.map(({ approve_by_policies }) => approve_by_policies)
  return {
    id,
    name,
    required_approvals: Math.max(...versions.map(({ required_approvals }) => required_approvals)),
    allow_api_keys: versions.every(({ allow_api_keys }) => allow_api_keys),
    allow_run_creator: versions.every(({ allow_run_creator }) => allow_run_creator),
    policies: [...new Set(versions.flatMap(({ policies }) => policies))],
    // `covering` asks the named policies, too.
    approve_by_policies: !approvals.includes(false) && (approvals.includes('covering') ? 'covering' : true),
    require_linked_accounts: versions.some(({ require_linked_accounts }) => require_linked_accounts),
  }
}
