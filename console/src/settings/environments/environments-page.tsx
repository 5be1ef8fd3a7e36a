import { ActionIcon, Button, Group, NativeSelect, Text, Textarea, TextInput } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconPencil, IconPlus, IconServer2, IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { ApiFormView, useApiForm } from '../../actions/api-form.tsx'
import { ConfirmForm, Dialog, useDialog } from '../../actions/dialog.tsx'
import { notifyDone, notifyFailed } from '../../actions/notify.tsx'
import type { Schema } from '../../api/client.ts'
import { useOrganization, usePermission } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { type Column, DataList } from '../../list/data-list.tsx'
import { wholeList } from '../../list/list-page.ts'
import { EXPOSURE_NAMES } from '../../page/names.ts'
import { Page } from '../../page/page.tsx'
import { Empty } from '../../page/states.tsx'
import { environmentsQuery } from '../gate/queries.ts'

type Entry = Schema<'EnvironmentEntry'>

const PATTERN_CHARS_MAX = 200
const UPDATES = ['environment', 'deployment'] as const

/** What is stated about environments. The first entry that matches counts. */
export function EnvironmentsPage() {
  const { slug: org } = useOrganization()
  const query = useQuery(environmentsQuery(org))
  const mayManage = usePermission('manage_gates')
  const edited = useDialog<{ entry: Entry | null }>()
  const deleted = useDialog<Entry>()
  const { mutateAsync: move } = useApiMutation('patch', '/app/api/orgs/{org}/environments/{id}', [...UPDATES])
  const count = query.data?.data.length ?? 0
  const actions = {
    count,
    edit: (entry: Entry) => edited.open({ entry }),
    remove: deleted.open,
    move: ({ id }: Entry, position: number) =>
      void move({ params: { path: { org, id } }, body: { position } }).catch((error) =>
        notifyFailed('The entry was not moved', error),
      ),
  }
  const add = mayManage && (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => edited.open({ entry: null })}>
      Add environments
    </Button>
  )
  return (
    <Page
      title="Environments"
      description="Who can reach what runs in an environment, how much depends on it, and whether it is production. The first entry that matches an environment counts."
      actions={add}
    >
      <DataList
        of="environments"
        list={wholeList(query)}
        columns={columnsOf(mayManage ? actions : null)}
        rowKey={({ id }) => id}
        empty={
          <Empty icon={IconServer2} title="Nothing is stated about environments" actions={add}>
            The exposure of every environment is unknown. Its name says whether it is production.
          </Empty>
        }
      />
      <Dialog dialog={edited} title={edited.subject?.entry ? 'Change environments' : 'Add environments'}>
        {({ entry }) => <EntryForm entry={entry} onClose={edited.close} />}
      </Dialog>
      <Dialog dialog={deleted} title="Delete entry">
        {(entry) => <DeleteEntry entry={entry} onClose={deleted.close} />}
      </Dialog>
    </Page>
  )
}

function EntryForm({ entry, onClose }: { entry: Entry | null; onClose: () => void }) {
  const { slug: org } = useOrganization()
  const { mutateAsync: store } = useApiMutation('post', '/app/api/orgs/{org}/environments', [...UPDATES])
  const entryForm = useApiForm({
    initialValues: {
      environment: entry?.environment ?? '',
      repository: entry?.repository ?? '',
      exposure: (entry?.exposure ?? '') as NonNullable<Entry['exposure']> | '',
      criticality: `${entry?.criticality ?? ''}`,
      production: `${entry?.production ?? ''}`,
      reason: '',
    },
    validate: {
      environment: (pattern) => (pattern.trim() === '' ? 'Enter an environment, or * for all.' : null),
      exposure: (exposure, { criticality, production }) =>
        exposure + criticality + production === '' ? 'State at least one of the three.' : null,
    },
    send: async ({ environment, repository, exposure, criticality, production, reason }) => {
      await store({
        params: { path: { org } },
        body: {
          environment: environment.trim(),
          repository: repository.trim() || null,
          exposure: exposure === '' ? null : exposure,
          criticality: criticality === '' ? null : Number(criticality),
          production: production === '' ? null : production === 'true',
          reason: reason.trim() || null,
        },
      })
      notifyDone(`Stored what is stated about ${environment}.`)
      onClose()
    },
  })
  const { form } = entryForm
  return (
    <ApiFormView form={entryForm} submitLabel="Save" onCancel={onClose}>
      <TextInput
        label="Environment"
        description="A name or a pattern, such as production or prod-*."
        required
        readOnly={entry !== null}
        maxLength={PATTERN_CHARS_MAX}
        {...form.getInputProps('environment')}
      />
      <TextInput
        label="Repository"
        description="A name or a pattern, such as acme/*. Empty: every repository."
        readOnly={entry !== null}
        maxLength={PATTERN_CHARS_MAX}
        {...form.getInputProps('repository')}
      />
      <NativeSelect
        label="Exposure"
        description="Who can reach what runs there."
        data={[
          { value: '', label: 'Not stated' },
          ...(['internet', 'internal', 'none'] as const).map((value) => ({ value, label: EXPOSURE_NAMES[value] })),
        ]}
        {...form.getInputProps('exposure')}
      />
      <NativeSelect
        label="Criticality"
        description="How much depends on it. 5 is the most."
        data={[{ value: '', label: 'Not stated' }, '1', '2', '3', '4', '5']}
        {...form.getInputProps('criticality')}
      />
      <NativeSelect
        label="Production"
        data={[
          { value: '', label: 'As its name says' },
          { value: 'true', label: 'Yes' },
          { value: 'false', label: 'No' },
        ]}
        {...form.getInputProps('production')}
      />
      <Textarea
        label="Reason"
        description="Optional. The audit log keeps it."
        maxLength={500}
        autosize
        minRows={2}
        {...form.getInputProps('reason')}
      />
    </ApiFormView>
  )
}

function DeleteEntry({ entry: { id, environment }, onClose }: { entry: Entry; onClose: () => void }) {
  const { slug: org } = useOrganization()
  const { mutateAsync: remove } = useApiMutation('delete', '/app/api/orgs/{org}/environments/{id}', [...UPDATES])
  const send = async ({ reason }: { reason: string | null }) => {
    await remove({ params: { path: { org, id }, query: reason === null ? {} : { reason } } })
    notifyDone(`Deleted what was stated about ${environment}.`)
  }
  return (
    <ConfirmForm confirmLabel="Delete" asksReason send={send} onClose={onClose}>
      The next entry that matches counts for <strong>{environment}</strong> then. Without one, its exposure is unknown.
    </ConfirmForm>
  )
}

type EntryActions = {
  count: number
  edit: (entry: Entry) => void
  remove: (entry: Entry) => void
  move: (entry: Entry, position: number) => void
}

function columnsOf(actions: EntryActions | null): Column<Entry>[] {
  return [
    {
      key: 'environment',
      header: 'Environments',
      width: 'minmax(0, 2fr)',
      cell: ({ environment, repository }) => (
        <Text size="sm" lineClamp={2}>
          <code>{environment}</code>
          {repository !== null && (
            <>
              {' '}
              of <code>{repository}</code>
            </>
          )}
        </Text>
      ),
    },
    {
      key: 'facts',
      header: 'Facts',
      width: 'minmax(0, 2fr)',
      cell: (entry) => <Text size="sm">{describeFacts(entry)}</Text>,
    },
    ...(actions === null
      ? []
      : [
          {
            key: 'actions',
            header: '',
            width: '10rem',
            align: 'end' as const,
            cell: (entry: Entry) => <EntryButtons entry={entry} actions={actions} />,
          },
        ]),
  ]
}

/** "Internet, criticality 5, production". */
function describeFacts({ exposure, criticality, production }: Entry): string {
  const facts = [
    exposure && EXPOSURE_NAMES[exposure],
    criticality && `Criticality ${criticality}`,
    production !== null && (production ? 'Production' : 'Not production'),
  ]
  return facts.filter(Boolean).join(', ')
}

function EntryButtons({ entry, actions }: { entry: Entry; actions: EntryActions }) {
  const { environment: name, position } = entry
  const buttons = [
    { label: 'Move up', icon: IconArrowUp, act: () => actions.move(entry, position - 1), disabled: position === 1 },
    {
      ...{ label: 'Move down', icon: IconArrowDown, act: () => actions.move(entry, position + 1) },
      disabled: position === actions.count,
    },
    { label: 'Change', icon: IconPencil, act: () => actions.edit(entry) },
    { label: 'Delete', icon: IconTrash, act: () => actions.remove(entry) },
  ]
  return (
    <Group gap={2} wrap="nowrap" justify="flex-end">
      {buttons.map(({ label, icon: Icon, act, disabled = false }) => (
        <ActionIcon
          key={label}
          variant="subtle"
          color="gray"
          aria-label={`${label}: ${name}`}
          disabled={disabled}
          onClick={act}
        >
          <Icon size={16} aria-hidden />
        </ActionIcon>
      ))}
    </Group>
  )
}
