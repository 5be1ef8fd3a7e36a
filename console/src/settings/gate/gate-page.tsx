import { Alert, Button, List, Paper, Stack, Table, Tabs, Text } from '@mantine/core'
import { IconAlertTriangle, IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ConfirmForm, Dialog, useDialog } from '../../actions/dialog.tsx'
import { notifyDone } from '../../actions/notify.tsx'
import { isPending, notifyPending } from '../../actions/pending-changes.tsx'
import { asApiError } from '../../api/api-error.ts'
import type { Schema } from '../../api/client.ts'
import { useOrganization, usePermission } from '../../api/session.ts'
import { useApiMutation, useRefresh } from '../../api/updates.ts'
import { ButtonLink, Link } from '../../page/link.tsx'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { withoutHost } from '../../page/repository.tsx'
import { QueryView } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { GateForm } from './gate-form.tsx'
import { type Gate, type GateSettings, gateChanges, gateFacts, settingsOf } from './gate-settings.ts'

import { gateQuery, gateVersionsQuery } from './queries.ts'

const route = getRouteApi('/signed-in/orgs/$org/settings/gates/$id')

/** One gate: its settings, and who changed them. */
export function GatePage() {
  const { slug: org } = useOrganization()
  const { id } = route.useParams()
  const { tab = 'settings' } = route.useSearch()
  const navigate = route.useNavigate()
  const mayManage = usePermission('manage_gates')
  const query = useQuery(gateQuery(org, id))
  const gate = query.data?.data
  return (
    <Page
      title={gate?.name ?? 'Gate'}
      description={
        gate && (
          <>
            Version {gate.version}, stored <Time at={gate.updated_at} />
          </>
        )
      }
      breadcrumbs={
        <Link {...pages.gates(org)} size="sm">
          Gates
        </Link>
      }
      actions={
        gate && (
          <>
            <GateDeployments org={org} gate={gate} />
            {mayManage && <DeleteGate gate={gate} />}
          </>
        )
      }
    >
      <QueryView query={query} of="gate">
        {({ data }) => (
          <Tabs
            value={tab}
            onChange={(next) => void navigate({ search: next === 'versions' ? { tab: 'versions' } : {} })}
            keepMounted={false}
          >
            <Tabs.List>
              <Tabs.Tab value="settings">Settings</Tabs.Tab>
              <Tabs.Tab value="versions">Versions</Tabs.Tab>
            </Tabs.List>
            <Tabs.Panel value="settings" pt="md">
              {mayManage ? <GateEditor key={data.id} gate={data} /> : <GateFacts gate={data} />}
            </Tabs.Panel>
            <Tabs.Panel value="versions" pt="md">
              <GateVersions gate={data} />
            </Tabs.Panel>
          </Tabs>
        )}
      </QueryView>
    </Page>
  )
}

/** Deployments that the gate covers. A pattern is no filter of the list, so it leads to the board. */
function GateDeployments({ org, gate: { environment, repository } }: { org: string; gate: Gate }) {
  const isExact = (pattern: string | null) => pattern !== null && !/[*?]/.test(pattern)
  const search = isExact(environment)
    ? {
        view: 'list' as const,
        environment,
        ...(isExact(repository) && { repository: withoutHost(repository as string) }),
      }
    : {}
  return (
    <ButtonLink {...pages.deployments(org)} search={search}>
      {isExact(environment) ? `Deployments to ${environment}` : 'Deployments'}
    </ButtonLink>
  )
}

function GateFacts({ gate }: { gate: Gate }) {
  return (
    <>
      <Table aria-label="Settings of the gate" mb="md">
        <Table.Tbody>
          {gateFacts(gate).map(([label, value]) => (
            <Table.Tr key={label}>
              <Table.Th w="12rem" fw={500}>
                {label}
              </Table.Th>
              <Table.Td>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Text size="sm" c="dimmed">
        To change it, you need the permission “Manage gates”.
      </Text>
    </>
  )
}

function DeleteGate({ gate: { id, name } }: { gate: Gate }) {
  const { slug: org } = useOrganization()
  const { mutateAsync: deleteGate } = useApiMutation('delete', '/app/api/orgs/{org}/gates/{id}', [])
  const dialog = useDialog<true>()
  const navigate = useNavigate()
  const refresh = useRefresh()
  const remove = async ({ reason }: { reason: string | null }) => {
    const query = reason === null ? {} : { reason }
    const { data } = await deleteGate({ params: { path: { org, id }, query } })
    await navigate(pages.gates(org))
    void refresh('gate')
    if (isPending(data)) notifyPending(data)
    else notifyDone(`${name} was deleted`)
  }
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconTrash size={16} aria-hidden />}
        onClick={() => dialog.open(true)}
        aria-haspopup="dialog"
      >
        Delete gate
      </Button>
      <Dialog dialog={dialog} title={`Delete ${name}`}>
        {() => (
          <ConfirmForm confirmLabel="Delete" asksReason send={remove} onClose={dialog.close}>
            New deployments no longer wait for it. Deployments that already require it keep requiring it, and its
            versions stay stored.
          </ConfirmForm>
        )}
      </Dialog>
    </>
  )
}

/** Changes a gate, unless somebody else has changed it since the form was opened. */
function GateEditor({ gate }: { gate: Gate }) {
  const { slug: org } = useOrganization()
  const { mutateAsync: updateGate } = useApiMutation('patch', '/app/api/orgs/{org}/gates/{id}', [])
  const refresh = useRefresh()
  const [base, setBase] = useState(gate)
  const [isConflict, setConflict] = useState(false)
  const save = async (settings: GateSettings & { reason: string | null }) => {
    try {
      const path = { org, id: gate.id }
      const body = { ...settings, expected_version: base.version }
      const { data } = await updateGate({ params: { path }, body })
      void refresh('gate')
      if (isPending(data)) return notifyPending(data)
      setBase(data)
      notifyDone(`${settings.name} was saved`)
    } catch (error) {
      // What is shown, and what the form goes on from, is the version that is stored now.
      await refresh('gate')
      if (asApiError(error)?.code !== 'version_conflict') throw error
      setConflict(true)
    }
  }
  const goOn = () => {
    setBase(gate)
    setConflict(false)
  }
  const notice = isConflict && <ChangedMeanwhile base={base} gate={gate} onGoOn={goOn} />
  return <GateForm gate={settingsOf(gate)} submitLabel="Save" send={save} notice={notice} />
}

type ChangedMeanwhileProps = { base: Gate; gate: Gate; onGoOn: () => void }

/** Who has changed the gate, and what. */
function ChangedMeanwhile({ base, gate, onGoOn }: ChangedMeanwhileProps) {
  const { slug: org } = useOrganization()
  const { data } = useQuery(gateVersionsQuery(org, gate.id))
  const newest = data?.data[0]
  return (
    <Alert color="yellow" role="alert" icon={<IconAlertTriangle />} title="The gate has been changed meanwhile">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">
          {newest?.changed_by?.name ?? 'Somebody'} stored version {newest?.version ?? gate.version}{' '}
          {newest && <Time at={newest.created_at} />}. Nothing of yours was saved.
        </Text>
        {gateChanges(base, gate).map((change) => (
          <Text key={change} size="sm">
            {change}
          </Text>
        ))}
        <Button size="xs" variant="default" onClick={onGoOn}>
          Keep my settings, then save again
        </Button>
      </Stack>
    </Alert>
  )
}

type Version = Schema<'GateVersion'>

/** Who changed the gate, when, why, and what. Newest first. */
function GateVersions({ gate: { id } }: { gate: Gate }) {
  const { slug: org } = useOrganization()
  const query = useQuery(gateVersionsQuery(org, id))
  return (
    <QueryView query={query} of="versions">
      {({ data: versions }) => (
        <Stack gap="sm">
          {versions.map((version, index) => (
            <VersionCard key={version.version} version={version} before={versions[index + 1]} />
          ))}
        </Stack>
      )}
    </QueryView>
  )
}

function VersionCard({ version, before }: { version: Version; before: Version | undefined }) {
  const lines = before ? gateChanges(before, version) : gateFacts(version).map(([label, value]) => `${label}: ${value}`)
  return (
    <Paper p="md" component="section" aria-label={`Version ${version.version}`}>
      <Stack gap={4}>
        <Text size="sm">
          <strong>Version {version.version}</strong>, <Time at={version.created_at} />
          {version.changed_by && ` by ${version.changed_by.name}`}
        </Text>
        {version.reason !== null && <Text size="sm">“{version.reason}”</Text>}
        <List size="sm" c="dimmed">
          {lines.map((line) => (
            <List.Item key={line}>{line}</List.Item>
          ))}
        </List>
      </Stack>
    </Paper>
  )
}
