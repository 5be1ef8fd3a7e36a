import { Badge, Button, Group, Stack, Text, Title } from '@mantine/core'
import { IconFileUpload } from '@tabler/icons-react'
import { ConfirmForm, Dialog, useDialog } from '../../actions/dialog.tsx'
import type { Schema } from '../../api/client.ts'
import { usePermission } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { type Column, DataList } from '../../list/data-list.tsx'
import { useCursorList } from '../../list/list-page.ts'
import { formatCount } from '../../page/numbers.ts'
import { Empty } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { streamsQuery } from './queries.ts'
import { LANE_NAMES } from './upload-words.ts'

type FindingStream = Schema<'FindingStream'>

const REASON = 'Nobody reports to it any more.'

/** What reports belong together, and what nobody reports any more: a person with Triage ends it. */
export function StreamList({ org, repository }: { org: string; repository: string | undefined }) {
  const list = useCursorList(streamsQuery(org, { repository }))
  return (
    <Stack gap="sm" component="section" aria-labelledby="streams">
      <Title order={2} id="streams">
        Streams
      </Title>
      <Text size="sm" c="dimmed">
        A stream has the findings that one report replaces. Nothing but its own next report closes them, so end the
        streams that get no more reports.
      </Text>
      <DataList
        of="streams"
        list={list}
        columns={columnsOf(org)}
        rowKey={({ id }) => id}
        empty={
          <Empty icon={IconFileUpload} title="No streams">
            The first report of a scanner starts one.
          </Empty>
        }
      />
    </Stack>
  )
}

function columnsOf(org: string): Column<FindingStream>[] {
  return [
    {
      key: 'status',
      header: 'Status',
      width: '6rem',
      cell: ({ status }) => (
        <Badge variant="light" color={status === 'stale' ? 'yellow' : 'gray'}>
          {status}
        </Badge>
      ),
    },
    { key: 'stream', header: 'Stream', width: 'minmax(0, 3fr)', cell: (stream) => <Named stream={stream} /> },
    { key: 'open', header: 'Open', width: '4.5rem', from: 'xs', align: 'end', cell: ({ open }) => formatCount(open) },
    {
      key: 'reported',
      header: 'Reported',
      width: '7.5rem',
      from: 'md',
      align: 'end',
      cell: ({ reported_at }) => <Time at={reported_at} />,
    },
    {
      key: 'end',
      header: 'Actions',
      width: '9rem',
      align: 'end',
      cell: (stream) => <Actions org={org} stream={stream} />,
    },
  ]
}

function Named({ stream }: { stream: FindingStream }) {
  const { tool, subject, category, repository, git_ref, trust } = stream
  return (
    <Stack gap={0}>
      <Text size="sm" fw={500} truncate>
        <bdi>{[tool, subject, category].filter(Boolean).join(' · ')}</bdi>
      </Text>
      <Text size="xs" c="dimmed" truncate>
        <bdi>{[repository, git_ref?.replace(/^refs\/heads\//, ''), LANE_NAMES[trust]].filter(Boolean).join(' · ')}</bdi>
      </Text>
    </Stack>
  )
}

function Actions({ org, stream }: { org: string; stream: FindingStream }) {
  const mayTriage = usePermission('triage')
  const end = useApiMutation('post', '/app/api/orgs/{org}/security/streams/{id}/end', ['finding', 'issue'])
  const takeOver = useApiMutation('post', '/app/api/orgs/{org}/security/streams/{id}/take-over', ['finding', 'issue'])
  const [ending, taking] = [useDialog<true>(), useDialog<FindingStream['can_take_over'][number]>()]
  const [weaker] = stream.can_take_over
  if (!mayTriage || stream.status === 'ended') return null
  const params = { path: { org, id: stream.id } }
  return (
    <Group gap={4} justify="flex-end">
      {weaker && (
        <Button size="compact-xs" variant="default" onClick={() => taking.open(weaker)} aria-haspopup="dialog">
          Take over
        </Button>
      )}
      <Button size="compact-xs" variant="default" onClick={() => ending.open(true)} aria-haspopup="dialog">
        End
      </Button>
      <Dialog dialog={ending} title={`End the stream of ${stream.tool}`}>
        {() => (
          <ConfirmForm
            confirmLabel="End"
            asksReason
            send={({ reason }) => end.mutateAsync({ params, body: { reason: reason ?? REASON } })}
            onClose={ending.close}
          >
            Its {formatCount(stream.open)} open findings are fixed. Its next report starts it again.
          </ConfirmForm>
        )}
      </Dialog>
      <Dialog dialog={taking} title={`Take over another stream of ${stream.tool}`}>
        {({ id, open, trust }) => (
          <ConfirmForm
            confirmLabel="Take over"
            send={() => takeOver.mutateAsync({ params, body: { from: id } })}
            onClose={taking.close}
          >
            This stream ({LANE_NAMES[stream.trust]}) has {formatCount(stream.open)} open findings, and the other one (
            {LANE_NAMES[trust]}) has {formatCount(open)}. The decisions and dates of the other one pass to the same
            problems here, and it ends.
          </ConfirmForm>
        )}
      </Dialog>
    </Group>
  )
}
