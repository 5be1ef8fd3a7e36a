import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { notifyDone, notifyFailed } from '../../actions/notify.tsx'
import { useOrganization, usePermission } from '../../api/session.ts'
import { refresh, useApiMutation } from '../../api/updates.ts'
import type { TriageRecord } from './triage-words.ts'
import { AFFECTED } from './use-triage.tsx'

/** Takes a triage back. Hidden where that is not possible. */
export function UndoTriageButton({ triage: { id, status, source } }: { triage: TriageRecord }) {
  const { slug: org } = useOrganization()
  const { mutateAsync: undoTriage } = useApiMutation('post', '/app/api/orgs/{org}/security/triage/{id}/undo', [])
  const isAllowed = usePermission('triage')
  const queries = useQueryClient()
  const [isBusy, setBusy] = useState(false)
  if (!isAllowed || status !== 'active' || source !== 'shiplock') return null
  const undo = async () => {
    setBusy(true)
    try {
      await undoTriage({ params: { path: { org, id } } })
      notifyDone('Undone')
    } catch (error) {
      notifyFailed('The triage could not be undone', error)
    }
    setBusy(false)
    void refresh(queries, AFFECTED)
  }
  return (
    <Button size="compact-sm" variant="default" loading={isBusy} onClick={undo}>
      Undo
    </Button>
  )
}
