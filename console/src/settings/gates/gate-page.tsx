import { Button, Table, Tabs, Text } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { ConfirmForm } from '../../actions/confirm-form.tsx'
import { Dialog, useDialog } from '../../actions/dialog.tsx'
import { notifyDone } from '../../actions/notify.tsx'
import { useOrganization, usePermission } from '../../api/session.ts'
import { useApiMutation, useRefresh } from '../../api/updates.ts'
import { Link } from '../../page/link.tsx'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { QueryView } from '../../page/query-view.tsx'
import { Time } from '../../page/time.tsx'
import { type Gate, gateFacts } from './describe-gate.ts'
import { GateEditor } from './gate-editor.tsx'
import { GateVersions } from './gate-versions.tsx'
import { gateQuery } from './routes.ts'

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
      actions={gate && mayManage && <DeleteGate gate={gate} />}
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
    await deleteGate({ params: { path: { org, id }, query } })
    await navigate(pages.gates(org))
    void refresh('gate')
    notifyDone(`${name} was deleted`)
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
