import { Checkbox, List, TextInput } from '@mantine/core'
import { ApiFormView } from '../../actions/api-form.tsx'
import { useApiForm } from '../../actions/use-api-form.ts'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { SETUP_PATH } from './connection.ts'
import { ReachNotice } from './reach-notice.tsx'

/** Starts the setup, and leaves for GitHub. */
export function SetupForm({ onCancel }: { onCancel: () => void }) {
  const { slug: org } = useOrganization()
  const { mutateAsync: startSetup } = useApiMutation('post', SETUP_PATH, [])
  const setup = useApiForm({
    initialValues: { organization: '', read_only_alerts: false, public: false },
    send: async ({ organization, ...options }) => {
      const owner = organization.trim()
      const body = { provider: 'github' as const, ...options, ...(owner && { organization: owner }) }
      const { data } = await startSetup({ params: { path: { org } }, body })
      location.assign(data.url)
    },
  })
  const { getInputProps } = setup.form
  return (
    <ApiFormView form={setup} submitLabel="Continue to GitHub" onCancel={onCancel}>
      <List type="ordered" size="sm" spacing={4}>
        <List.Item>GitHub shows the name of your new App. Everything else is filled in: create it.</List.Item>
        <List.Item>Choose the repositories, and install the App.</List.Item>
        <List.Item>Back here, connect the installation.</List.Item>
      </List>
      <TextInput
        label="Organization on GitHub"
        description="Its login. It will own the App. Empty: your own account."
        placeholder="acme"
        autoComplete="off"
        maxLength={100}
        data-autofocus
        {...getInputProps('organization')}
      />
      <Checkbox
        label="Read alerts only"
        description="A dismissal in Shiplock then does not dismiss the alert on GitHub."
        {...getInputProps('read_only_alerts', { type: 'checkbox' })}
      />
      <Checkbox
        label="Other accounts may install the App"
        description="Needed to connect several organizations of GitHub."
        {...getInputProps('public', { type: 'checkbox' })}
      />
      <ReachNotice host="GitHub" />
    </ApiFormView>
  )
}
