import { IconBrandAzure, IconBrandBitbucket, IconBrandGithub, IconBrandGitlab } from '@tabler/icons-react'
import type { Provider } from '../../page/provider-names.ts'

export const PROVIDER_ICONS: Record<Provider, typeof IconBrandGithub> = {
  github: IconBrandGithub,
  gitlab: IconBrandGitlab,
  bitbucket: IconBrandBitbucket,
  azure: IconBrandAzure,
}
