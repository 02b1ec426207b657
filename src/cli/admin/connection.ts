/** Opens a connection to a running service, or to a data directory that none has open. */
import { checkSystemLimits } from '../system-limits.ts'
import type { AdminConnection, AdminOptions } from './admin-connection.ts'

/** Opens the connection, does the work, and closes it however that ends. */
export async function withConnection<T>(
  options: AdminOptions,
  work: (connection: AdminConnection) => Promise<T>,
): Promise<T> {
  const connection = await open(options)
  try {
    return await work(connection)
  } finally {
    await connection.close()
  }
}

async function open(options: AdminOptions): Promise<AdminConnection> {
  if (options.dataDir !== undefined) {
    checkSystemLimits()
    const { openDirectory } = await import('./directory-connection.ts')
    return openDirectory(options.dataDir, options.org)
  }
  const { ServiceConnection } = await import('./service-connection.ts')
  return new ServiceConnection(options)
}
