import { Button, type ButtonProps, Menu } from '@mantine/core'
import { IconChevronDown, IconPlugConnected } from '@tabler/icons-react'
import { useRef } from 'react'
import { Dialog, useDialog } from '../../actions/dialog.tsx'
import { api } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { PROVIDER_NAMES, type Provider } from '../../page/provider-names.ts'
import { AccountForm } from './account-form.tsx'
import { SETUP_PATH } from './connection.ts'
import { OperatorsApp } from './operators-app.tsx'
import { PROVIDER_ICONS } from './provider-icons.ts'
import { SetupForm } from './setup-form.tsx'

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
