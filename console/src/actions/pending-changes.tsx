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
  if (changes.length === 0) return null
  return (
    <Alert color="yellow" icon={<IconUsers />} title="Waiting for a second person" mb="md">
      <Stack gap="sm">
        {changes.map((change) => (
          <PendingChangeCard key={change.id} change={change} describe={describe} />
        ))}
      </Stack>
    </Alert>
  )
}

function PendingChangeCard({ change, describe }: { change: PendingChange; describe: Describe | undefined }) {
  const { kind, action, name, content, base_version, proposed_by, reason, created_at } = change
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
        {content !== null && <NewContent content={content} describe={describe} />}
        <Answers change={change} />
      </Stack>
    </Paper>
  )
}

/** What will be stored. */
function NewContent({ content, describe }: { content: Content; describe: Describe | undefined }) {
  if ('file' in content) return <Code block>{content.file}</Code>
  return (
    <List size="sm" c="dimmed">
      {describe?.(content).map(([label, value]) => (
        <List.Item key={label}>
          {label}: {value}
        </List.Item>
      ))}
    </List>
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
            It is stored in the name of who proposed it. What it loosens applies to what is opened 24 hours later,
            except at gates that let openers approve.
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
