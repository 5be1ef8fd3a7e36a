import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { IconCircleMinus } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { notifyDone, notifyFailed } from '../../actions/notify.tsx'
import { listQuery } from '../../api/queries.ts'
import { useOrganization, usePermission } from '../../api/session.ts'
import { refresh, useApiMutation } from '../../api/updates.ts'
import { useCursorList } from '../../list/list-page.ts'
import { Link } from '../../page/link.tsx'
import { formatCount } from '../../page/numbers.ts'
import { pages } from '../../page/pages.ts'
import { oneLine } from '../../page/reported-text.ts'
import { LineSkeleton, Problem } from '../../page/states.tsx'
import { formatTime, Time } from '../../page/time.tsx'
import { nameOfSource } from '../facts/names.ts'
import { deciderOf, endingOf, nameOfReason, type TriageRecord, wordsOf } from './triage-words.ts'
import { AFFECTED } from './use-triage.tsx'

const PATH = '/app/api/orgs/{org}/security/triage'
const SHOWN_MAX = 3

const PAGES = {
  issue: pages.issue,
  finding: pages.finding,
  alert: pages.alert,
} as const

/** What was decided about one finding, newest first. */
export function TriageList({ findingId }: { findingId: string }) {
  const { slug: org } = useOrganization()
  const list = useCursorList(listQuery(PATH, { path: { org }, query: { finding_id: findingId, limit: 20 } }))
  if (list.rows === undefined)
    return list.error ? (
      <Problem error={list.error} title="The history could not be loaded" retry={list.refresh} />
    ) : (
      <LineSkeleton lines={2} />
    )
  if (list.rows.length === 0)
    return (
      <Text size="sm" c="dimmed">
        Nobody has decided anything about it.
      </Text>
    )
  return (
    <Stack gap="sm">
      {list.rows.map((triage) => (
        <Group key={triage.id} justify="space-between" align="flex-start" wrap="nowrap">
          <Stack gap={2}>
            <Text size="sm">
              <strong>{oneLine(deciderOf(triage), 80)}</strong> {wordsOf(triage)} · <Time at={triage.created_at} />
              {endingOf(triage) && ` · ${oneLine(endingOf(triage) ?? '', 100)}`}
            </Text>
            {triage.comment && (
              <Text size="sm" c="dimmed">
                <bdi>{oneLine(triage.comment, 1000)}</bdi>
              </Text>
            )}
          </Stack>
          <UndoTriageButton triage={triage} />
        </Group>
      ))}
      {list.hasMore && (
        <Button size="xs" variant="default" loading={list.isLoadingMore} onClick={list.loadMore}>
          Load more
        </Button>
      )}
    </Stack>
  )
}

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

type Dismissed = {
  dismiss_reason: string | null
  dismiss_comment: string | null
  dismissed_by_name: string | null
  dismissed_at: string | null
  dismissal_source: string | null
  dismissal_expires_at?: string | null
}

/** Who dismissed something, when, why, and until when. */
export function DismissalNote({ dismissed }: { dismissed: Dismissed }) {
  const { dismiss_reason, dismiss_comment, dismissed_by_name, dismissed_at, dismissal_source } = dismissed
  const by = dismissed_by_name ?? (dismissal_source === null ? null : nameOfSource(dismissal_source))
  return (
    <Alert color="gray" variant="light" icon={<IconCircleMinus />} title="Dismissed">
      <Text size="sm">
        {by !== null && `By ${oneLine(by, 100)}`} {dismissed_at && <Time at={dismissed_at} />}
        {dismiss_reason && `: ${oneLine(nameOfReason(dismiss_reason), 200)}`}
      </Text>
      {dismiss_comment && (
        <Text size="sm" mt={4} lineClamp={6}>
          <bdi>{oneLine(dismiss_comment, 1000)}</bdi>
        </Text>
      )}
      {dismissed.dismissal_expires_at && (
        <Text size="sm" mt={4}>
          Opens again on {formatTime(dismissed.dismissal_expires_at)}.
        </Text>
      )}
    </Alert>
  )
}

type EndedDismissal = {
  at: string
  changed: readonly string[]
  reason: string | null
  comment: string | null
  by: string | null
}

/** Why something is open that a person dismissed: a report shows something else by now. */
export function EndedDismissalNote({ ended }: { ended: EndedDismissal | null }) {
  if (ended === null) return null
  const { at, changed, reason, comment, by } = ended
  return (
    <Alert color="orange" variant="light" icon={<IconCircleMinus />} title="Open again: it is not what was dismissed">
      <Text size="sm">
        Changed: {changed.join(', ')} <Time at={at} />. Dismissed{by !== null && ` by ${oneLine(by, 100)}`}
        {reason && `: ${oneLine(nameOfReason(reason), 200)}`}
      </Text>
      {comment && (
        <Text size="sm" mt={4} lineClamp={6}>
          <bdi>{oneLine(comment, 1000)}</bdi>
        </Text>
      )}
    </Alert>
  )
}

/** Links to what a triage is about. Of many, to the first. */
export function TargetLinks({
  triage: { target_type, target_ids, target_titles },
  org,
}: {
  triage: TriageRecord
  org: string
}) {
  const more = target_ids.length - SHOWN_MAX
  return (
    <Group gap="xs">
      {target_ids.slice(0, SHOWN_MAX).map((id, index) => (
        <Link key={id} {...PAGES[target_type](org, id)} size="xs" lineClamp={1} maw="28rem">
          <bdi>{oneLine(target_titles[index] ?? `A ${target_type} that is gone`, 120)}</bdi>
        </Link>
      ))}
      {more > 0 && (
        <Text size="xs" c="dimmed">
          and {formatCount(more)} more
        </Text>
      )}
    </Group>
  )
}
