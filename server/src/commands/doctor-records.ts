import { listUncovered } from '../deployments/gates/configure/required-gate.store.ts'
import { listBrokenChains } from '../provenance/chain/break.store.ts'
import type { Services } from '../services.ts'
import { findChainName } from './chain-names.ts'
import type { Check, Result } from './doctor-finding.ts'

/** The checks of what the installation has stored. */
export const RECORD_CHECKS: readonly Check[] = [
  { check: 'gates', examine: checkGates },
  { check: 'provenance', examine: checkChains },
]

/** Deployments that no gate covers wait for a person, without end. */
async function checkGates({ sql }: Services): Promise<Result> {
  const uncovered = await listUncovered(sql, null)
  const names = uncovered.map(({ repository_full_name, environment }) => `${environment} of ${repository_full_name}`)
  if (names.length === 0) return { ok: true, detail: 'every waiting deployment has a gate' }
  return { ok: false, detail: `deployments wait, but no gate covers ${[...new Set(names)].join(', ')}` }
}

/** Reads what verifications have found. It verifies nothing. */
async function checkChains({ sql }: Services): Promise<Result> {
  const broken = await listBrokenChains(sql)
  if (broken.length === 0) return { ok: true, detail: 'no chain of change records is broken' }
  const names = await Promise.all(broken.map((chain) => findChainName(sql, chain)))
  const listed = broken.map(({ breaks, found_at }, nth) => `${names[nth]} (${breaks}, since ${found_at.toJSON()})`)
  return { ok: false, detail: `chains of change records are broken: ${listed.join(', ')}` }
}
