#!/bin/sh
# Runs once, when PostgreSQL starts on an empty volume: a role without the administrator's rights.
set -eu
psql --set=ON_ERROR_STOP=1 --username=postgres --dbname=postgres --set=password="$POSTERN_PASSWORD" <<'SQL'
CREATE ROLE postern LOGIN CREATEROLE PASSWORD :'password';
CREATE DATABASE postern OWNER postern;
REVOKE CONNECT ON DATABASE postern FROM PUBLIC;
SQL
