import type { Route } from '../route.ts'
import { aclRoutes } from './acl-routes.ts'
import { keyRoutes } from './key-routes.ts'
import { organizationRoutes } from './organization-routes.ts'
import { roleRoutes } from './role-routes.ts'

/** The resources of `/v1` that say who is there and who may do what. */
export const accessRoutes: readonly Route[] = [
  ...organizationRoutes,
  ...keyRoutes,
  ...roleRoutes,
  ...aclRoutes,
]
