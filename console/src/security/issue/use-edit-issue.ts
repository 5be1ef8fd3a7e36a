import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { notifyDone, notifyFailed } from '../../actions/notify.tsx'
import { client } from '../../api/client.ts'
import { refresh } from '../../api/live-updates.ts'
import { useOrganization } from '../../api/session.ts'
import { describeProblem } from '../../page/states.tsx'

type Edited = { data?: { data: { triage_id: string; issues: { id: string }[] } } | undefined }
type Edit = {
  send: () => Promise<Edited>
  /** What was done, for the notification. */
  done: string
  onDone: () => void
}

/** Splits or merges issues, offers to undo it, and opens the issue that holds the findings then. */
export function useEditIssue() {
  const { slug: org } = useOrganization()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const open = (id: string) => navigate({ to: '/orgs/$org/security/issues/$id', params: { org, id } })
  const reread = () => refresh(queries, ['issue', 'finding', 'triage'])

  const undo = async (id: string, issueId: string) => {
    try {
      await client.POST('/app/api/orgs/{org}/security/triage/{id}/undo', { params: { path: { org, id } } })
      notifyDone('Undone')
      await open(issueId)
    } catch (error) {
      notifyFailed('The change could not be undone', error)
    }
    reread()
  }

  const edit = async (issueId: string, { send, done, onDone }: Edit) => {
    setBusy(true)
    setProblem(null)
    try {
      const { data } = await send()
      onDone()
      const [first] = data?.data.issues ?? []
      if (data) notifyDone(done, () => void undo(data.data.triage_id, issueId))
      if (first && first.id !== issueId) await open(first.id)
    } catch (error) {
      setProblem(describeProblem(error))
    }
    setBusy(false)
    reread()
  }
  return { edit, problem, isBusy }
}
