import { Checkbox, Stack, TextInput } from '@mantine/core'
import { ApiFormView } from '../../actions/api-form.tsx'
import { notifyDone } from '../../actions/notify.tsx'
import { useApiForm } from '../../actions/use-api-form.ts'
import { useOrganization, usePermission } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { EXPIRY_DEFAULT, ExpirySelect, expiryTime } from '../credentials/expiry.tsx'
import { type CiSystem, type TrustTarget, toTrusted } from './trust-presets.ts'
import { TrustPreview } from './trust-preview.tsx'
import { hasTargetField, TrustTargetFields } from './trust-target-fields.tsx'

export const TRUSTS_PATH = '/app/api/orgs/{org}/oidc-trusts'
type Scope = 'write:ci' | 'write:security-findings'

const NO_TARGET: TrustTarget = {
  ...{ system: 'github' as CiSystem, issuer: '', audience: '', repository: '', workspace: '', workspaceId: '' },
  ...{ branch: '', environment: '', conditions: '' },
}

export function CreateTrustForm({ onClose }: { onClose: () => void }) {
  const { slug: org } = useOrganization()
  const { mutateAsync: createTrust } = useApiMutation('post', TRUSTS_PATH, ['oidc_trust'])
  const mayUpload = usePermission('upload_security_reports')
  const scopes: Scope[] = mayUpload ? ['write:ci', 'write:security-findings'] : ['write:ci']
  const create = useApiForm({
    initialValues: { ...NO_TARGET, name: '', scopes, expires_at: EXPIRY_DEFAULT },
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter a name.' : null),
      scopes: (chosen) => (chosen.length === 0 ? 'Choose at least one scope.' : null),
      repository: (repository, { system }) =>
        system !== 'other' && repository.trim() === '' ? 'Enter what is trusted.' : null,
    },
    send: async ({ name, scopes, expires_at, ...target }) => {
      const { audience, ...trusted } = toTrusted(target)
      const body = {
        name: name.trim(),
        scopes,
        expires_at: expiryTime(expires_at),
        ...trusted,
        ...(audience && { audience }),
      }
      await createTrust({ params: { path: { org } }, body })
      onClose()
      notifyDone(`Created the trust ${body.name}.`)
    },
  })
  const { getInputProps, values, errors } = create.form
  const hidden = ['issuer', 'audience', 'conditions'].filter((name) => !hasTargetField(values.system, name))
  return (
    <ApiFormView form={create} submitLabel="Create trust" onCancel={onClose}>
      <TextInput
        label="Name"
        description="Says later what is trusted."
        placeholder="shop, production"
        maxLength={100}
        required
        data-autofocus
        {...getInputProps('name')}
      />
      <TrustTargetFields form={create.form} />
      <TrustPreview trusted={toTrusted(values)} errors={hidden.map((name) => errors[name])} />
      <Checkbox.Group label="Scopes" data-path="scopes" tabIndex={-1} {...getInputProps('scopes')}>
        <Stack gap={6} my="xs">
          <Checkbox
            value="write:ci"
            label="write:ci"
            description="Create runs, send job reports and artifacts, open deployment gates."
          />
          <Checkbox
            value="write:security-findings"
            label="write:security-findings"
            description={
              mayUpload
                ? 'Upload reports of scanners and SBOMs of its own repository.'
                : 'You cannot give this: your role cannot upload security reports.'
            }
            disabled={!mayUpload}
          />
        </Stack>
      </Checkbox.Group>
      <ExpirySelect {...getInputProps('expires_at')} />
    </ApiFormView>
  )
}
