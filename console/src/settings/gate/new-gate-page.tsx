import { useNavigate } from '@tanstack/react-router'
import { notifyDone } from '../../actions/notify.tsx'
import { isPending, notifyPending } from '../../actions/pending-changes.tsx'
import { useOrganization, usePermission } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { Link } from '../../page/link.tsx'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { Forbidden } from '../../page/states.tsx'
import { GateForm } from './gate-form.tsx'
import type { GateSettings } from './gate-settings.ts'

const NEW_GATE: GateSettings = {
  name: '',
  environment: '',
  repository: null,
  branch: null,
  required_approvals: 1,
  allow_api_keys: false,
  allow_run_creator: false,
  policies: [],
  approve_by_policies: true,
  require_linked_accounts: false,
}

/** Creates a gate. */
export function NewGatePage() {
  const { slug: org } = useOrganization()
  const { mutateAsync: createGate } = useApiMutation('post', '/app/api/orgs/{org}/gates', ['gate'])
  const navigate = useNavigate()
  const mayManage = usePermission('manage_gates')
  const create = async (body: GateSettings & { reason: string | null }) => {
    const { data } = await createGate({ params: { path: { org } }, body })
    if (isPending(data)) {
      notifyPending(data)
      void navigate(pages.gates(org))
      return
    }
    notifyDone(`${body.name} was created`)
    void navigate(pages.gate(org, data.id))
  }
  return (
    <Page
      title="Create gate"
      description="It applies to deployments that are created afterwards, and to waiting ones that no gate covers."
      breadcrumbs={
        <Link {...pages.gates(org)} size="sm">
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
