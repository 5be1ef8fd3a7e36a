import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { notifyDone } from '../../actions/notify.tsx'
import { client } from '../../api/client.ts'
import { useOrganization, usePermission } from '../../api/session.ts'
import { Link } from '../../page/link.tsx'
import { Page } from '../../page/page.tsx'
import { Forbidden } from '../../page/states.tsx'
import type { GateSettings } from './describe-gate.ts'
import { GateForm } from './gate-form.tsx'

const NEW_GATE: GateSettings = {
  name: '',
  environment: '',
  repository: null,
  branch: null,
  required_approvals: 1,
  allow_api_keys: false,
  allow_run_creator: true,
  policies: [],
}

/** Creates a gate. */
export function NewGatePage() {
  const { slug: org } = useOrganization()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const mayManage = usePermission('manage_gates')
  const create = async (body: GateSettings & { reason: string | null }) => {
    const { data } = await client.POST('/app/api/orgs/{org}/gates', { params: { path: { org } }, body })
    await queries.invalidateQueries({ queryKey: ['get', '/app/api/orgs/{org}/gates'] })
    notifyDone(`${body.name} was created`)
    if (data) void navigate({ to: '/orgs/$org/settings/gates/$id', params: { org, id: data.data.id } })
  }
  return (
    <Page
      title="Create gate"
      description="It applies to deployments that are created afterwards, and to waiting ones that no gate covers."
      breadcrumbs={
        <Link to="/orgs/$org/settings/gates" params={{ org }} size="sm">
          Gates
        </Link>
      }
    >
      {mayManage ? (
        <GateForm gate={NEW_GATE} submitLabel="Create gate" send={create} />
      ) : (
        <Forbidden permission="manage_gates" />
      )}
    </Page>
  )
}
