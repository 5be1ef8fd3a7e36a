import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { notifyDone, notifyFailed } from '../../actions/notify.tsx'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation, useRefresh } from '../../api/updates.ts'
import { pages } from '../../page/pages.ts'
import { describeProblem } from '../../page/states.tsx'

type Edited = { data: { triage_id: string; issues: { id: string }[] } }

type Edit = {
  send: () => Promise<Edited>
  /** What was done, for the notification. */
  done: string
  onDone: () => void
}

/** Splits or merges issues, offers to undo it, and opens the issue that holds the findings then. */
export function useEditIssue() {
  const { slug: org } = useOrganization()
  const { mutateAsync: undoTriage } = useApiMutation('post', '/app/api/orgs/{org}/security/triage/{id}/undo', [])
  const refresh = useRefresh()
  const navigate = useNavigate()
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const open = (id: string) => navigate(pages.issue(org, id))
  // After the page has been left, because the issue that it shows may be gone.
  const reread = () => void refresh('issue', 'finding', 'triage')

  const undo = async (id: string, issueId: string) => {
    try {
      await undoTriage({ params: { path: { org, id } } })
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
      const [first] = data.issues
      notifyDone(done, () => void undo(data.triage_id, issueId))
      if (first && first.id !== issueId) await open(first.id)
    } catch (error) {
      setProblem(describeProblem(error))
    }
    setBusy(false)
    reread()
  }
  return { edit, problem, isBusy }
}
