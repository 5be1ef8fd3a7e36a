import { useState } from 'react'
import { notifyFailed } from '../../actions/notify.tsx'
import { client } from '../../api/client.ts'
import type { Check } from '../verify/checks.ts'
import { canVerify, type SignedStatement, verifyStatement } from '../verify/verify-statement.ts'

export type Verification = {
  /** Null until it was asked for. */
  checks: Check[] | null
  isBusy: boolean
  /** False on a page without https, where browsers do not verify signatures. */
  isPossible: boolean
  verify: () => void
}

/** Verifies a statement in the browser, against the keys that the server publishes. */
export function useVerification(
  org: string,
  statement: SignedStatement | undefined,
  commit: string | undefined,
): Verification {
  const [checks, setChecks] = useState<Check[] | null>(null)
  const [isBusy, setBusy] = useState(false)
  const verify = async () => {
    if (statement === undefined) return
    setBusy(true)
    try {
      if (canVerify()) setChecks(await verifyStatement(statement, { ...(await publishedKeys(org)), commit }))
    } catch (error) {
      notifyFailed('The keys could not be loaded', error)
    } finally {
      setBusy(false)
    }
  }
  return { checks, isBusy, isPossible: canVerify(), verify: () => void verify() }
}

async function publishedKeys(org: string) {
  const { data } = await client.GET('/app/api/orgs/{org}/provenance/keys', { params: { path: { org } } })
  const log = await fetch('/log/key')
  return { keys: data?.data.keys ?? [], logKey: log.ok ? await log.text() : null }
}
