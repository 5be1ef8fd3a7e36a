import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { notifyDone, notifyFailed } from '../../actions/notify.tsx'
import { useShortcuts } from '../../actions/shortcuts.ts'
import { client } from '../../api/client.ts'
import type { paths } from '../../api/schema.ts'
import { useOrganization, usePermission, useSession } from '../../api/session.ts'
import { refresh, type UpdateType } from '../../api/updates.ts'
import { type Dismissal, DismissDialog, type DismissInput } from './dismiss-dialog.tsx'
import { countTargets, dismissable, reopenable, type Target, type Targets, type TargetType } from './targets.ts'
import { changeShown, type ShownChange } from './triage-cache.ts'

let last: Promise<unknown> = Promise.resolve()

/** The last triage of this tab that was not undone, for the key u. By organization. */
const lastDone = new Map<string, Done>()

const PAST = { dismiss: 'Dismissed', reopen: 'Reopened' } as const

/** What a decision changes. */
export const AFFECTED: UpdateType[] = ['issue', 'finding', 'alert', 'triage']

type Done = { id: string; change: ShownChange }

type Decision = { action: 'dismiss'; dismissal: Dismissal } | { action: 'reopen' }

/** What the dialog asks about. */
type Asked = { targets: Targets; onDecided: (() => void) | undefined; input?: DismissInput }

type Triage = {
  isAllowed: boolean
  /** Asks for the reason, and dismisses what is open. */
  dismiss: (targets: Targets, onDecided?: () => void) => void
  /** Reopens what is dismissed. */
  reopen: (targets: Targets, onDecided?: () => void) => void
  undoLast: () => void
  /** To be rendered by the page. */
  dialog: ReactNode
}

/** Dismisses, reopens and undoes. Screens show the change at once, and the old state if it fails. */
export function useTriage(): Triage {
  const isAllowed = usePermission('triage')
  const { decide, undoLast } = useDecisions()
  const [asked, setAsked] = useState<Asked | null>(null)
  const close = () => setAsked(null)
  return {
    isAllowed,
    undoLast,
    dismiss: (all, onDecided) => {
      if (!isAllowed) return
      const targets = dismissable(all)
      if (targets.items.length === 0) notifyDone(`Nothing to dismiss: no ${all.type} here is open`)
      else setAsked({ targets, onDecided })
    },
    reopen: (all, onDecided) => {
      if (!isAllowed) return
      const targets = reopenable(all)
      if (targets.items.length === 0) return notifyDone(`Nothing to reopen: no ${all.type} here is dismissed`)
      onDecided?.()
      decide(targets, { action: 'reopen' })
    },
    dialog: (
      <DismissDialog
        targets={asked?.targets ?? null}
        input={asked?.input}
        onClose={close}
        onDismiss={async (dismissal, input) => {
          if (asked === null) return
          close()
          asked.onDecided?.()
          // What was written is not lost with the request.
          if (!(await decide(asked.targets, { action: 'dismiss', dismissal }))) setAsked({ ...asked, input })
        }}
      />
    ),
  }
}

/** Sends one decision after the other, so that a reopening does not overtake its dismissal. */
function inOrder<Response>(send: () => Promise<Response>): Promise<Response> {
  const sent = last.then(send, send)
  last = sent.catch(() => {})
  return sent
}

function useDecisions() {
  const { slug: org } = useOrganization()
  const { user } = useSession()
  const queries = useQueryClient()
  const path = { org }

  const undo = async ({ id, change }: Done) => {
    if (lastDone.get(org)?.id === id) lastDone.delete(org)
    change.revert()
    try {
      await inOrder(() =>
        client.POST('/app/api/orgs/{org}/security/triage/{id}/undo', { params: { path: { org, id } } }),
      )
      notifyDone('Undone')
    } catch (error) {
      await change.apply()
      notifyFailed('The triage could not be undone', error)
    }
    void refresh(queries, AFFECTED)
  }

  /** Whether the decision was stored. */
  const decide = async ({ type, items }: Targets, decision: Decision): Promise<boolean> => {
    const ids = items.map((item) => item.id)
    const named = countTargets(type, ids.length)
    const change = changeShown(queries, type, new Set(ids), shownBy(type, decision, user.name))
    await change.apply()
    try {
      const body = { [`${type}_ids`]: ids, ...bodyOf(decision) } as NewTriage
      const { data } = await inOrder(() =>
        client.POST('/app/api/orgs/{org}/security/triage', { params: { path }, body }),
      )
      if (data === undefined) return false
      const done = { id: data.data.id, change }
      lastDone.set(org, done)
      notifyDone(`${PAST[decision.action]} ${named}`, () => undo(done))
      return true
    } catch (error) {
      change.revert()
      notifyFailed(`${named} could not be ${PAST[decision.action].toLowerCase()}`, error)
      return false
    } finally {
      void refresh(queries, AFFECTED)
    }
  }

  const undoLast = () => {
    const done = lastDone.get(org)
    if (done === undefined) notifyDone('Nothing to undo: you have triaged nothing in this tab')
    else void undo(done)
  }
  return { decide, undoLast }
}

type NewTriage = paths['/app/api/orgs/{org}/security/triage']['post']['requestBody']['content']['application/json']

function bodyOf(decision: Decision) {
  if (decision.action === 'reopen') return { action: 'reopen' as const }
  const { reason, comment, expiresAt, scope } = decision.dismissal
  return { action: 'dismiss' as const, scope, reason, comment: comment || null, expires_at: expiresAt }
}

/** What an object is going to look like. */
function shownBy(type: TargetType, decision: Decision, userName: string) {
  const state = decision.action === 'dismiss' ? 'dismissed' : 'open'
  const shown = type === 'finding' ? { state } : { status: state }
  if (decision.action === 'reopen') return shown
  const { reason, comment, expiresAt } = decision.dismissal
  return {
    ...{ ...shown, dismiss_reason: reason, dismiss_comment: comment || null, dismissed_by_name: userName },
    ...{ dismissed_at: new Date().toISOString(), dismissal_source: 'shiplock', dismissal_expires_at: expiresAt },
  }
}

type TriageButtonsProps = { triage: Triage; type: TargetType; target: Target }

/** Dismisses or reopens what a page shows, also with the keys d, e and u. */
export function TriageButtons({ triage, type, target }: TriageButtonsProps) {
  const targets = { type, items: [target] }
  const { isAllowed, dismiss, reopen, undoLast, dialog } = triage
  useShortcuts(
    'Triage',
    isAllowed
      ? [
          { keys: 'd', label: `Dismiss the ${type}`, run: () => dismiss(targets) },
          { keys: 'e', label: `Reopen the ${type}`, run: () => reopen(targets) },
          { keys: 'u', label: 'Undo the last triage', run: undoLast },
        ]
      : [],
  )
  if (!isAllowed) return null
  return (
    <>
      {target.isOpen && (
        <Button aria-keyshortcuts="d" onClick={() => dismiss(targets)}>
          Dismiss
        </Button>
      )}
      {target.isDismissed && (
        <Button variant="default" aria-keyshortcuts="e" onClick={() => reopen(targets)}>
          Reopen
        </Button>
      )}
      {dialog}
    </>
  )
}
