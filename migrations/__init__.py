"""Schema changes (Alembic), one a file; `migrations.run` applies and checks them."""
