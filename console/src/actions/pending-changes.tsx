import { Alert, Button, Code, Group, List, Paper, Stack, Text } from '@mantine/core'
import { IconUsers } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { api, type Schema } from '../api/client.ts'
import { useOrganization, usePermission, useSession } from '../api/session.ts'
import { useApiMutation } from '../api/updates.ts'
import { Time } from '../page/time.tsx'
import { ConfirmForm, Dialog, useDialog } from './dialog.tsx'
import { notifyDone } from './notify.tsx'

export type PendingChange = Schema<'PendingChange'>

/** Whether a change was not stored, but waits for a second person. */
export function isPending(data: object): data is PendingChange {
  return 'proposed_by' in data
}

/** Says that a change waits. */
export function notifyPending({ name }: PendingChange): void {
  notifyDone(`The change of ${name} waits for a second person`)
}

const ACTIONS: Record<PendingChange['action'], string> = {
  create: 'New',
  change: 'Change of the',
  delete: 'Deletion of the',
}

type Content = NonNullable<PendingChange['content']>
type Describe = (settings: Exclude<Content, { file: string }>) => [label: string, value: string][]

type PendingChangesProps = {
  kind: PendingChange['kind']
  /** The settings of a gate in words. */
  describe?: Describe
}

/** The changes of gates or of policies that wait for a second person. */
export function PendingChanges({ kind, describe }: PendingChangesProps) {
  const { slug: org } = useOrganization()
  const { data } = useQuery(
    api.queryOptions('get', '/app/api/orgs/{org}/pending-changes', { params: { path: { org } } }),
  )
  const changes = data?.data.filter((change) => change.kind === kind) ?? []
  if (changes.length === 0 && !data?.next_cursor) return null
  return (
    <Alert color="yellow" icon={<IconUsers />} title="Waiting for a second person" mb="md">
      <Stack gap="sm">
        {changes.map((change) => (
          <PendingChangeCard key={change.id} change={change} describe={describe} />
        ))}
        {data?.next_cursor && <Text size="sm">More changes wait. Confirm or withdraw these first.</Text>}
      </Stack>
    </Alert>
  )
}

function PendingChangeCard({ change, describe }: { change: PendingChange; describe: Describe | undefined }) {
  const { kind, action, name, content, before, base_version, proposed_by, reason, created_at } = change
  return (
    <Paper p="md" component="section" aria-label={`${ACTIONS[action]} ${kind} ${name}`}>
      <Stack gap="xs">
        <Text size="sm">
          <strong>
            {ACTIONS[action]} {kind} <bdi>{name}</bdi>
          </strong>
          {base_version > 0 && `, version ${base_version}`}, proposed by <bdi>{proposed_by?.name}</bdi>{' '}
          <Time at={created_at} />
        </Text>
        {reason !== null && <Text size="sm">“{reason}”</Text>}
        {before && <StoredContent title="Now" content={before} describe={describe} />}
        {content !== null && (
          <StoredContent title={before ? 'Then' : undefined} content={content} describe={describe} other={before} />
        )}
        <Answers change={change} />
      </Stack>
    </Paper>
  )
}

type StoredContentProps = {
  title: string | undefined
  content: Content
  describe: Describe | undefined
  /** What it replaces: only settings that differ are emphasized. */
  other?: Content | null | undefined
}

/** What is stored, or will be. Of a changed gate, what differs is emphasized. */
function StoredContent({ title, content, describe, other }: StoredContentProps) {
  const heading = title && (
    <Text size="sm" fw={500}>
      {title}
    </Text>
  )
  if ('file' in content)
    return (
      <Stack gap={4}>
        {heading}
        <Code block>{content.file}</Code>
      </Stack>
    )
  const before = new Map(other && !('file' in other) ? describe?.(other) : undefined)
  return (
    <Stack gap={4}>
      {heading}
      <List size="sm" c="dimmed">
        {describe?.(content).map(([label, value]) => (
          <List.Item key={label}>
            {before.size > 0 && before.get(label) !== value ? (
              <strong>
                {label}: {value}
              </strong>
            ) : (
              `${label}: ${value}`
            )}
          </List.Item>
        ))}
      </List>
    </Stack>
  )
}

function Answers({ change: { id, kind, name, proposed_by } }: { change: PendingChange }) {
  const { slug: org } = useOrganization()
  const { user } = useSession()
  const mayManage = usePermission(kind === 'gate' ? 'manage_gates' : 'manage_policies')
  const confirm = useApiMutation('post', '/app/api/orgs/{org}/pending-changes/{id}/confirm', ['gate', 'policy'])
  const withdraw = useApiMutation('post', '/app/api/orgs/{org}/pending-changes/{id}/withdraw', ['gate', 'policy'])
  const [confirming, withdrawing] = [useDialog<true>(), useDialog<true>()]
  if (!mayManage) return null
  const isOwn = proposed_by?.id === user.id
  const init = { params: { path: { org, id } } }
  const send = async (act: typeof confirm.mutateAsync | typeof withdraw.mutateAsync, done: string) => {
    await act(init)
    notifyDone(`The change of ${name} was ${done}`)
  }
  return (
    <Group>
      <Button size="xs" disabled={isOwn} onClick={() => confirming.open(true)} aria-haspopup="dialog">
        Confirm
      </Button>
      <Button size="xs" variant="default" onClick={() => withdrawing.open(true)} aria-haspopup="dialog">
        Withdraw
      </Button>
      {isOwn && (
        <Text size="xs" c="dimmed">
          You have proposed it. Another person confirms it.
        </Text>
      )}
      <Dialog dialog={confirming} title={`Confirm the change of ${name}`}>
        {() => (
          <ConfirmForm
            confirmLabel="Confirm"
            send={() => send(confirm.mutateAsync, 'confirmed')}
            onClose={confirming.close}
          >
            It is stored in the name of who proposed it. A new gate or policy applies at once. What a change loosens
            applies to what is opened 24 hours later, except at gates of one approval that let openers approve.
          </ConfirmForm>
        )}
      </Dialog>
      <Dialog dialog={withdrawing} title={`Withdraw the change of ${name}`}>
        {() => (
          <ConfirmForm
            confirmLabel="Withdraw"
            send={() => send(withdraw.mutateAsync, 'withdrawn')}
            onClose={withdrawing.close}
          >
            Nothing is stored. It can be proposed again.
          </ConfirmForm>
        )}
      </Dialog>
    </Group>
  )
}
