import { Button, type ButtonProps, Checkbox, Group, List, Menu, Stack, Text, TextInput } from '@mantine/core'
import { IconChevronDown, IconPlugConnected } from '@tabler/icons-react'
import { useRef } from 'react'
import { ApiFormView, useApiForm } from '../../actions/api-form.tsx'
import { Dialog, useDialog } from '../../actions/dialog.tsx'
import { api } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { PROVIDER_NAMES, type Provider } from '../../page/names.ts'
import { AccountForm, ReachNotice } from './account-form.tsx'
import { PROVIDER_ICONS } from './account-hosts.ts'
import { SETUP_PATH } from './connection.ts'

const ACCOUNT_PROVIDERS = ['gitlab', 'bitbucket', 'azure'] as const satisfies Provider[]

/**
 * The code hosts to choose from. GitHub has an App: its item leads to the page that installs it, or
 * first to the one that creates it, and GitHub sends the browser back here with the installation.
 */
export function ConnectMenu(props: ButtonProps) {
  const { slug: org } = useOrganization()
  const app = api.useQuery('get', SETUP_PATH, { params: { path: { org } } }).data?.data
  const setup = useDialog<Provider>()
  const { subject, close } = setup
  const button = useRef<HTMLButtonElement>(null)
  const open = (provider: Provider) => {
    // The dialog gives the focus back to where it is now. The item will be gone.
    button.current?.focus()
    setup.open(provider)
  }
  const iconOf = (provider: Provider) => {
    const Icon = PROVIDER_ICONS[provider]
    return <Icon size={18} aria-hidden />
  }
  return (
    <>
      <Menu position="bottom-end" width="target" withinPortal={false} withInitialFocusPlaceholder={false}>
        <Menu.Target>
          <Button
            ref={button}
            leftSection={<IconPlugConnected size={16} aria-hidden />}
            rightSection={<IconChevronDown size={14} aria-hidden />}
            {...props}
          >
            Connect a code host
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {app?.install_url ? (
            <Menu.Item component="a" href={app.install_url} leftSection={iconOf('github')}>
              GitHub
            </Menu.Item>
          ) : (
            <Menu.Item disabled={app === undefined} leftSection={iconOf('github')} onClick={() => open('github')}>
              GitHub
            </Menu.Item>
          )}
          {ACCOUNT_PROVIDERS.map((provider) => (
            <Menu.Item key={provider} leftSection={iconOf(provider)} onClick={() => open(provider)}>
              {PROVIDER_NAMES[provider]}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <Dialog dialog={setup} title={subject ? `Connect ${PROVIDER_NAMES[subject]}` : ''} size="lg">
        {(provider) => {
          if (provider !== 'github') return <AccountForm provider={provider} connection={null} onClose={close} />
          return app?.source ? <OperatorsApp onClose={close} /> : <SetupForm onCancel={close} />
        }}
      </Dialog>
    </>
  )
}

/** Starts the setup, and leaves for GitHub. */
function SetupForm({ onCancel }: { onCancel: () => void }) {
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

/** The App of the environment: only GitHub knows its page. */
function OperatorsApp({ onClose }: { onClose: () => void }) {
  return (
    <Stack>
      <Text size="sm">
        The operator of this server has set its GitHub App. Open the App on GitHub (Settings, Developer settings, GitHub
        Apps), install it in the account, and come back: the installation is then shown on this page.
      </Text>
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  )
}
