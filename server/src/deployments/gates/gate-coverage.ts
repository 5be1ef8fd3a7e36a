import { matchesGlob } from '../../platform/glob.ts'
import { matchesRepository } from '../../repositories/repository-pattern.ts'

/** What a configured gate covers: globs, null for everything. */
export type GatePatterns = { environment: string; repository: string | null; branch: string | null }

/** What wants to be let out, and where to. `repository` is `host/owner/name`, branch null where the run named none. */
export type GateTarget = { environment: string; repository: string; branch: string | null }

/** Does a gate cover this? */
export function coversTarget(gate: GatePatterns, target: GateTarget): boolean {
  return (
    matchesGlob(gate.environment, target.environment) &&
    (gate.repository === null || matchesRepository(gate.repository, target.repository)) &&
    (gate.branch === null || (target.branch !== null && matchesGlob(gate.branch, target.branch)))
  )
}
