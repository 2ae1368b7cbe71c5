CREATE ROLE {role} LOGIN NOINHERIT;
ALTER ROLE {role} SET statement_timeout = '60s';
ALTER ROLE {role} SET lock_timeout = '15s';
ALTER ROLE {role} SET idle_in_transaction_session_timeout = '60s';
