import { Button, Stack, Text, Timeline } from '@mantine/core'
import {
  IconArrowBackUp,
  IconArrowMerge,
  IconArrowsSplit,
  IconCircleCheck,
  IconCircleDashed,
  IconCircleMinus,
  IconEye,
  IconPlus,
} from '@tabler/icons-react'
import { api } from '../../api/client.ts'
import { listQuery } from '../../api/queries.ts'
import { useOrganization } from '../../api/session.ts'
import { useCursorList } from '../../list/list-page.ts'
import { Link } from '../../page/link.tsx'
import { pages } from '../../page/pages.ts'
import { oneLine } from '../../page/reported-text.ts'
import { LineSkeleton, Problem } from '../../page/states.tsx'
import { formatTime, Time } from '../../page/time.tsx'
import type { Issue } from '../facts/searches.ts'
import { UndoTriageButton } from '../triage/triage-list.tsx'
import { type HistoryEvent, historyOf } from './history-events.ts'

const TRIAGE_PATH = '/app/api/orgs/{org}/security/triage'
const EXPLAIN_PATH = '/app/api/orgs/{org}/security/issues/{id}/explain'
const ICONS: Record<HistoryEvent['type'], typeof IconEye> = {
  seen: IconEye,
  joined: IconPlus,
  dismissed: IconCircleMinus,
  reopened: IconCircleDashed,
  split: IconArrowsSplit,
  merged: IconArrowMerge,
  ended: IconArrowBackUp,
  fixed: IconCircleCheck,
}

/** What happened to an issue, and who decided what about it. */
export function IssueHistory({ issue }: { issue: Issue }) {
  const { slug: org } = useOrganization()
  const triages = useCursorList(listQuery(TRIAGE_PATH, { path: { org }, query: { issue_id: issue.id, limit: 50 } }))
  const explanation = api.useQuery('get', EXPLAIN_PATH, { params: { path: { org, id: issue.id } } })
  const error = triages.rows === undefined ? triages.error : explanation.error
  if (triages.rows === undefined || explanation.data === undefined)
    return error ? (
      <Problem error={error} title="The history could not be loaded" retry={triages.refresh} />
    ) : (
      <LineSkeleton lines={3} />
    )
  return (
    <Stack gap="sm">
      <Timeline bulletSize={22} lineWidth={1}>
        {historyOf(issue, explanation.data.data, triages.rows).map((event) => (
          <Entry key={event.key} event={event} />
        ))}
      </Timeline>
      {triages.hasMore && (
        <Button size="xs" variant="default" w="fit-content" loading={triages.isLoadingMore} onClick={triages.loadMore}>
          Load older decisions
        </Button>
      )}
    </Stack>
  )
}

function Entry({ event: { type, who, text, note, at, otherIssueId, triage }, ...props }: { event: HistoryEvent }) {
  const { slug: org } = useOrganization()
  const Icon = ICONS[type]
  return (
    <Timeline.Item bullet={<Icon size={13} aria-hidden />} {...props}>
      <Stack gap={2} align="flex-start">
        <Text size="sm">
          {who !== null && <strong>{oneLine(who, 80)} </strong>}
          {text}
          {triage?.expires_at && ` until ${formatTime(triage.expires_at)}`}
          {otherIssueId && (
            <>
              {' '}
              <Link {...pages.issue(org, otherIssueId)} size="sm" underline="always">
                Open the other issue
              </Link>
            </>
          )}
        </Text>
        {note && (
          <Text size="sm" c="dimmed">
            <bdi>{note}</bdi>
          </Text>
        )}
        <Text size="xs" c="dimmed">
          <Time at={at} />
        </Text>
        {triage && <UndoTriageButton triage={triage} />}
      </Stack>
    </Timeline.Item>
  )
}
