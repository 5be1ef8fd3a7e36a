import { Button, Group, Stack, Text } from '@mantine/core'
import { listQuery } from '../../api/queries.ts'
import { useOrganization } from '../../api/session.ts'
import { useCursorList } from '../../list/list-page.ts'
import { LineSkeleton } from '../../page/query-view.tsx'
import { oneLine } from '../../page/reported-text.ts'
import { Problem } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { deciderOf, endingOf, wordsOf } from './triage-words.ts'
import { UndoTriageButton } from './undo-triage-button.tsx'

const PATH = '/app/api/orgs/{org}/security/triage'

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
