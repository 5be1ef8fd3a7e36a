import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { notifyDone, notifyFailed } from '../../actions/notify.tsx'
import { client } from '../../api/client.ts'
import { refresh } from '../../api/live-updates.ts'
import { useOrganization, usePermission } from '../../api/session.ts'
import type { TriageRecord } from './triage-words.ts'

/** Takes a triage back. Hidden where that is not possible. */
export function UndoTriageButton({ triage: { id, status, source } }: { triage: TriageRecord }) {
  const { slug: org } = useOrganization()
  const isAllowed = usePermission('triage')
  const queries = useQueryClient()
  const [isBusy, setBusy] = useState(false)
  if (!isAllowed || status !== 'active' || source !== 'shiplock') return null
  const undo = async () => {
    setBusy(true)
    try {
      await client.POST('/app/api/orgs/{org}/security/triage/{id}/undo', { params: { path: { org, id } } })
      notifyDone('Undone')
    } catch (error) {
      notifyFailed('The triage could not be undone', error)
    }
    setBusy(false)
    refresh(queries, ['issue', 'finding', 'alert', 'triage'])
  }
  return (
    <Button size="compact-sm" variant="default" loading={isBusy} onClick={undo}>
      Undo
    </Button>
  )
}
